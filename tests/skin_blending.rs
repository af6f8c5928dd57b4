//! Dual quaternion skinning against closed forms, beside linear blend skinning.

mod common;

use common::Random;
use glam::{Affine3A, Quat, Vec3};
use sinew::cpu::LaneWidth;
use sinew::cpu::deform_skin::{Deltas, Vertices, deform_skin};
use sinew::cpu::skin_blocks::SkinBlocks;
use sinew::{Skin, SkinBlending, SkinInputs, SkinVertex, SkinnedVertices, palette_matrix};

const RADIUS: f32 = 0.1;
/// Rings along a cylinder of length 1 around the x axis, and vertices around each.
const RINGS: usize = 21;
const AROUND: usize = 12;

/// A cylinder that goes over from its first joint to its second along its length.
fn cylinder(blending: SkinBlending) -> Skin {
    let vertex = |index: usize| {
        let along = (index / AROUND) as f32 / (RINGS - 1) as f32;
        let angle = std::f32::consts::TAU * (index % AROUND) as f32 / AROUND as f32;
        let normal = Vec3::new(0.0, angle.cos(), angle.sin());
        let position = Vec3::X * along + normal * RADIUS;
        SkinVertex {
            position: position.to_array(),
            normal: normal.to_array(),
            rest_position: position.to_array(),
            rest_normal: normal.to_array(),
            tangent: [1.0, 0.0, 0.0, 1.0],
            rest_tangent: [1.0, 0.0, 0.0],
            // The second joint first: the order in which a file lists joints does not matter.
            joints: [1, 0, 0, 0],
            weights: [along, 1.0 - along, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            ..SkinVertex::default()
        }
    };
    let vertices = (0..RINGS * AROUND).map(vertex).collect();
    Skin { vertices, palette_len: 2, blending, ..Skin::default() }
}

fn deformed(skin: Skin, palette: &[Affine3A]) -> SkinnedVertices {
    let blocks = SkinBlocks::new(skin.into());
    let mut inputs = SkinInputs::default();
    inputs.take_palette(&blocks.skin, &palette.iter().map(palette_matrix).collect::<Vec<_>>());
    let with = |width| {
        let mut out = SkinnedVertices::default();
        Vertices::new(&blocks, &inputs, &[], Deltas::default(), &mut out)
            .for_each(|mut some| deform_skin(width, &mut some));
        out
    };
    let out = with(LaneWidth::Eight);
    assert!([LaneWidth::EightBaseline, LaneWidth::One].into_iter().all(|width| with(width) == out), "the same bits");
    out
}

/// The least and the greatest distance from the x axis of a ring's vertices.
fn radii(out: &SkinnedVertices, ring: usize) -> [f32; 2] {
    let radii = out.positions[ring * AROUND..][..AROUND].iter().map(|place| place.y.hypot(place.z));
    radii.fold([f32::MAX, 0.0], |[least, most], radius| [least.min(radius), most.max(radius)])
}

#[test]
fn a_twist_keeps_the_cylinders_radius_with_dual_quaternions_alone() {
    for degrees in [37.0_f32, 90.0, 180.0] {
        let twist = degrees.to_radians();
        let palette = [Affine3A::IDENTITY, Affine3A::from_rotation_x(twist)];
        let dual = deformed(cylinder(SkinBlending::DualQuaternion), &palette);
        let linear = deformed(cylinder(SkinBlending::Linear), &palette);
        let worst = (0..RINGS).flat_map(|ring| radii(&dual, ring)).map(|radius| (radius - RADIUS).abs());
        let worst = worst.fold(0.0, f32::max);
        let middle = RINGS / 2;
        let [_, thin] = radii(&linear, middle);
        println!("{degrees}°: {worst:.1e} m off the radius, linear blending leaves {:.4} of it", thin / RADIUS);
        assert!(worst < 1.0e-7);
        assert!((thin / RADIUS - (0.5 * twist).cos()).abs() < 1.0e-6, "linear blending has its closed form");
        // Half the way along half the twist, either way round where both are as long.
        let turns = [0.5 * twist, -0.5 * twist].map(Quat::from_rotation_x);
        let rest = cylinder(SkinBlending::Linear);
        let off = turns.map(|turn| {
            let vertices = middle * AROUND..(middle + 1) * AROUND;
            vertices.fold(0.0_f32, |most, index| {
                let vertex = &rest.vertices[index];
                let place = turn * Vec3::from(vertex.position);
                let normal = turn * Vec3::from(vertex.normal);
                most.max(place.distance(dual.positions[index])).max(normal.distance(dual.normals[index]))
            })
        });
        let either = if degrees == 180.0 { off[0].min(off[1]) } else { off[0] };
        assert!(either < 1.0e-6, "{degrees}°: {off:?}");
        assert!(dual.tangents.iter().all(|tangent| tangent.distance(Vec3::X.extend(1.0)) < 1.0e-6));
    }
}

#[test]
fn a_bend_goes_about_the_joint() {
    // About z through (0.5, 0, 0), by a right angle: a screw axis that both poses share, so half of it at half the weight.
    let about = |angle: f32| {
        let pivot = Affine3A::from_translation(Vec3::X * 0.5);
        pivot * Affine3A::from_rotation_z(angle) * pivot.inverse()
    };
    let bend = std::f32::consts::FRAC_PI_2;
    let out = deformed(cylinder(SkinBlending::DualQuaternion), &[Affine3A::IDENTITY, about(bend)]);
    let half = about(0.5 * bend);
    for index in RINGS / 2 * AROUND..(RINGS / 2 + 1) * AROUND {
        let rest = Vec3::from(cylinder(SkinBlending::Linear).vertices[index].position);
        assert!(half.transform_point3(rest).distance(out.positions[index]) < 1.0e-6);
    }
}

#[test]
fn what_both_joints_do_is_done_whatever_it_is() {
    let mut random = Random(3);
    for round in 0..20 {
        let mut vector = |low: f64, high: f64| random.vector(low, high).as_vec3();
        let turn = Quat::from_scaled_axis(vector(-2.0, 2.0));
        let mut scale = vector(0.3, 2.0);
        if round % 4 == 3 {
            scale.y = -scale.y;
        }
        let shear = Affine3A::from_quat(Quat::from_scaled_axis(vector(-1.0, 1.0))) * Affine3A::from_scale(scale);
        let matrix = Affine3A::from_rotation_translation(turn, vector(-3.0, 3.0)) * shear;
        let [dual, linear] = [SkinBlending::DualQuaternion, SkinBlending::Linear]
            .map(|blending| deformed(cylinder(blending), &[matrix, matrix]));
        for index in 0..RINGS * AROUND {
            assert!(dual.positions[index].distance(linear.positions[index]) < 4.0e-6);
            assert!(dual.normals[index].distance(linear.normals[index]) < 4.0e-6);
            assert!(dual.tangents[index].distance(linear.tangents[index]) < 4.0e-6);
        }
    }
}

#[test]
fn joints_that_squeeze_to_nothing_leave_finite_skin() {
    let flat = Affine3A::from_scale(Vec3::new(1.0, 0.0, 1.0));
    for palette in [[Affine3A::IDENTITY, Affine3A::from_scale(Vec3::ZERO)], [flat, flat]] {
        let out = deformed(cylinder(SkinBlending::DualQuaternion), &palette);
        assert!(out.positions.iter().chain(&out.normals).all(|v| v.is_finite()));
    }
}
