//! Skin in blocks: against an f64 reference vertex by vertex, whatever vertices follow, the same bits at every width and on any
//! number of threads, in the host's order.

mod common;

use std::sync::Arc;

use common::Random;
use glam::{DAffine3, DMat3, DVec3, Mat3, Quat, Vec3};
use sinew::cpu::LaneWidth;
use sinew::cpu::deform_skin::{Deltas, Vertices, deform_skin};
use sinew::cpu::skin_blocks::{Follows, SkinBlocks};
use sinew::flesh::{Flesh, RodSpec};
use sinew::{
    PaletteMatrix, SectionMatrix, SectionWeight, Skin, SkinBlending, SkinInputs, SkinSection, SkinVertex,
    SkinnedVertices, palette_matrix,
};

const JOINTS: u32 = 40;
const SECTIONS: u32 = 60;

fn flesh() -> Arc<Flesh> {
    let rod = |k: u32| {
        let from = DVec3::Y * f64::from(k);
        RodSpec::straight(format!("rod {k}"), from, from + DVec3::X, 9, 0.05)
    };
    Arc::new(Flesh::build(&(0..SECTIONS / 10).map(rod).collect::<Vec<_>>(), &[]).unwrap())
}

fn unit(random: &mut Random) -> Vec3 {
    loop {
        let v = DVec3::from_array(std::array::from_fn(|_| random.uniform(-1.0, 1.0)));
        if (0.1..1.0).contains(&v.length()) {
            return v.normalize().as_vec3();
        }
    }
}

/// Stretches of vertices that follow what is near, and of such that follow anything; none to eight of each.
fn skin(flesh: &Flesh, count: u32, tangents: bool) -> Skin {
    let mut random = Random(5);
    let mut skin = Skin { sections: SkinSection::all(flesh), palette_len: JOINTS as usize, ..Skin::default() };
    for index in 0..count {
        let anything = index / 300 % 2 == 1;
        let near = |k: u32, of: u32| (index / 20 + k) % of;
        let joint_count = index % 9;
        let section_count = if index % 700 < 200 { 0 } else { index / 9 % 9 };
        let normal = unit(&mut random);
        let tangent = if index % 11 == 10 { Vec3::ZERO } else { normal.any_orthonormal_vector() };
        let side = if index % 11 == 10 { 0.0 } else { [1.0, -1.0][index as usize % 2] };
        let mut vertex = SkinVertex {
            position: unit(&mut random).to_array(),
            normal: normal.to_array(),
            tangent: tangent.extend(if tangents { side } else { 0.0 }).to_array(),
            rest_tangent: (tangent * 0.8).to_array(),
            rest_position: unit(&mut random).to_array(),
            rest_normal: unit(&mut random).to_array(),
            first_section: skin.weights.len() as u32,
            section_count,
            ..SkinVertex::default()
        };
        for k in 0..joint_count {
            let joint = if anything { random.uniform(0.0, f64::from(JOINTS)) as u32 } else { near(k, JOINTS) };
            vertex.joints[k as usize / 2] |= joint << (16 * (k % 2));
            vertex.weights[k as usize] = random.uniform(0.1, 1.0) as f32 / joint_count as f32;
        }
        for k in 0..section_count {
            let section = if anything { random.uniform(0.0, f64::from(SECTIONS)) as u32 } else { near(k, SECTIONS) };
            skin.weights.push(SectionWeight { section, weight: random.uniform(0.0, 0.3) as f32 });
        }
        skin.vertices.push(vertex);
    }
    skin
}

fn palette() -> Vec<PaletteMatrix> {
    let matrix = |joint: u32| {
        let phase = joint as f32;
        let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.8, 0.0), 0.7 * phase.sin());
        // Some mirror, all shear what is between them.
        let scale = Vec3::new(1.0, 1.3, if joint % 7 == 3 { -0.8 } else { 0.7 });
        let moved = Vec3::new(0.2 * phase.cos(), 0.1, 0.0);
        palette_matrix(&glam::Affine3A::from_scale_rotation_translation(scale, turn, moved))
    };
    (0..JOINTS).map(matrix).collect()
}

fn sections() -> Vec<SectionMatrix> {
    let mut random = Random(9);
    let mut row =
        |last: f64| std::array::from_fn(|k| (if k == 3 { last } else { 1.0 } * random.uniform(-0.3, 0.3)) as f32);
    (0..SECTIONS)
        .map(|_| SectionMatrix { place: [row(1.0), row(1.0), row(1.0)], normal: [row(0.0), row(0.0), row(0.0)] })
        .collect()
}

fn affine(rows: &PaletteMatrix) -> DAffine3 {
    let [x, y, z] = rows.map(|row| row.map(f64::from));
    DAffine3 {
        matrix3: DMat3::from_cols_array(&[x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]]),
        translation: DVec3::new(x[3], y[3], z[3]),
    }
}

fn sum(pairs: impl Iterator<Item = (DAffine3, f32)>) -> DAffine3 {
    pairs.fold(DAffine3::ZERO, |sum, (matrix, weight)| DAffine3 {
        matrix3: sum.matrix3 + matrix.matrix3 * f64::from(weight),
        translation: sum.translation + matrix.translation * f64::from(weight),
    })
}

struct Reference {
    place: DVec3,
    normal: DVec3,
    tangent: DVec3,
    /// As joints alone carry it.
    bitangent: DVec3,
}

/// A vertex as its definition has it: by the inverse transpose, where there is one.
fn reference(skin: &Skin, vertex: &SkinVertex, palette: &[PaletteMatrix], sections: &[SectionMatrix]) -> Reference {
    let wide = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
    let joints = (0..8).map(|k| (vertex.joints[k / 2] >> (16 * (k % 2)) & 0xffff, vertex.weights[k]));
    let by_joints = sum(joints.map(|(joint, weight)| (affine(&palette[joint as usize]), weight)));
    let by_sections = |of: fn(&SectionMatrix) -> &PaletteMatrix| {
        sum(skin.sections_of(vertex).iter().map(|pair| (affine(of(&sections[pair.section as usize])), pair.weight)))
    };
    let inverse = by_joints.matrix3.inverse();
    let normal = inverse.transpose() * wide(vertex.normal);
    let mut normal = if normal.is_finite() { normal.normalize() } else { wide(vertex.normal) };
    if vertex.section_count > 0 {
        normal = (normal + by_sections(|m| &m.normal).matrix3 * wide(vertex.rest_normal)).normalize();
    }
    let moved = by_sections(|m| &m.place);
    let [x, y, z, bitangent_side] = vertex.tangent;
    let flat = by_joints.matrix3 * wide([x, y, z]);
    let bitangent = by_joints.matrix3 * wide(vertex.normal).cross(wide([x, y, z])) * f64::from(bitangent_side);
    Reference {
        place: by_joints.transform_point3(wide(vertex.position)) + moved.transform_point3(wide(vertex.rest_position)),
        normal,
        tangent: (flat + moved.matrix3 * wide(vertex.rest_tangent)).normalize_or_zero(),
        bitangent,
    }
}

fn deformed(
    blocks: &SkinBlocks,
    palette: &[PaletteMatrix],
    sections: &[SectionMatrix],
    width: LaneWidth,
) -> SkinnedVertices {
    let (mut inputs, mut out) = (SkinInputs::default(), SkinnedVertices::default());
    inputs.take_palette(&blocks.skin, palette);
    Vertices::new(blocks, &inputs, sections, Deltas::default(), &mut out)
        .for_each(|mut some| deform_skin(width, &mut some));
    out
}

#[test]
fn blocks_deform_each_vertex_as_its_definition_says() {
    let flesh = flesh();
    // The last chunk is short, and so is its last block.
    let skin = Arc::new(skin(&flesh, 2501, true));
    let (palette, sections) = (palette(), sections());
    let blocks = SkinBlocks::new(skin.clone());
    let apart = blocks.blocks.iter().filter(|block| matches!(block.joints, Follows::Apart(_))).count();
    let of_sections = blocks.blocks.iter().filter_map(|block| block.sections.as_ref());
    let (shared_sections, apart_sections): (Vec<_>, Vec<_>) =
        of_sections.partition(|(follows, _)| matches!(follows, Follows::Shared(_)));
    println!("{} blocks, {apart} with joints apart, {} with sections apart", blocks.blocks.len(), apart_sections.len());
    assert!(apart > 0 && apart < blocks.blocks.len() && !shared_sections.is_empty() && !apart_sections.is_empty());

    let out = deformed(&blocks, &palette, &sections, LaneWidth::Eight);
    for width in [LaneWidth::EightBaseline, LaneWidth::One] {
        assert_eq!(deformed(&blocks, &palette, &sections, width), out, "{width:?} has other bits");
    }
    // As at another scale: what is followed is found once.
    let mut larger = Skin::clone(&skin);
    larger.vertices.iter_mut().for_each(|vertex| vertex.rest_position[1] += 0.5);
    let larger = Arc::new(larger);
    let alike = blocks.of_alike(&larger).expect("its vertices follow the same");
    let anew = deformed(&SkinBlocks::new(larger.clone()), &palette, &sections, LaneWidth::Eight);
    assert!(deformed(&alike, &palette, &sections, LaneWidth::Eight) == anew && anew != out);
    let mut other = Skin::clone(&larger);
    other.weights[7].weight *= 0.5;
    assert!(blocks.of_alike(&other.into()).is_none());

    let mut off = [0.0_f64; 3];
    for (index, vertex) in skin.vertices.iter().enumerate() {
        let expected = reference(&skin, vertex, &palette, &sections);
        off[0] = off[0].max((out.positions[index].as_dvec3() - expected.place).length());
        // Where what a vertex follows nearly cancels, its normal is whatever rounding leaves.
        let joints = vertex.weights.iter().filter(|weight| **weight > 0.0).count();
        if joints < 3 {
            let (normal, tangent) = (out.normals[index].as_dvec3(), out.tangents[index].as_dvec4());
            off[1] = off[1].max((normal - expected.normal).length());
            let given = vertex.tangent[3] != 0.0;
            if joints > 0 || vertex.section_count > 0 {
                off[2] = off[2].max((tangent.truncate() - expected.tangent).length());
                assert_eq!(tangent.w.abs(), f64::from(u8::from(given)));
            }
            if joints > 0 && vertex.section_count == 0 && given {
                let bitangent = normal.cross(tangent.truncate()) * tangent.w;
                assert!(bitangent.dot(expected.bitangent) > 0.0, "vertex {index}: its bitangent is on the other side");
            }
        }
    }
    println!("places are off by {:.1e} m, normals by {:.1e}, tangents by {:.1e}", off[0], off[1], off[2]);
    assert!(off[0] < 2.0e-6 && off[1] < 1.0e-5 && off[2] < 1.0e-5);

    let without = SkinBlocks::new(self::skin(&flesh, 2501, false).into());
    let bare = deformed(&without, &palette, &sections, LaneWidth::Eight);
    assert!(bare.tangents.is_empty() && out.tangents.len() == 2501);
    assert!(bare.positions == out.positions && bare.normals == out.normals, "tangents change what they lie on");
}

/// What moves vertices before they are skinned is as if they were given where it moves them, and turned so.
#[test]
fn what_is_added_is_as_if_it_were_given() {
    let flesh = flesh();
    let mut given = skin(&flesh, 2501, true);
    let mut state = 7_u32;
    let mut number = |size: f32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 9) as f32 / (1 << 22) as f32 - 1.0) * size
    };
    let mut vectors =
        |size: f32| -> Vec<Vec3> { (0..2501).map(|_| Vec3::new(number(size), number(size), number(size))).collect() };
    let lists = [vectors(0.1), vectors(0.05), vectors(0.4), vectors(0.4)];
    // Stretched, sheared, and every other one mirrored.
    let columns = [vectors(0.3), vectors(0.3), vectors(0.3)];
    let linear = |vertex: usize| {
        let mirrored = if vertex.is_multiple_of(2) { 1.0 } else { -1.0 };
        let [x, y, z] = [0, 1, 2].map(|k| columns[k][vertex]);
        Mat3::from_cols(Vec3::X + x, Vec3::Y + y, Vec3::Z * mirrored + z)
    };
    given.rest_linear = Arc::new((0..2501).map(|vertex| linear(vertex).transpose().to_cols_array_2d()).collect());
    let mut baked = given.clone();
    for (index, vertex) in baked.vertices.iter_mut().enumerate() {
        let add = |to: &mut [f32; 3], by: Vec3| *to = (Vec3::from(*to) + by).to_array();
        let (delta, linear) = (lists[0][index] + lists[1][index], linear(index));
        add(&mut vertex.position, delta);
        add(&mut vertex.rest_position, linear * delta);
        add(&mut vertex.normal, lists[2][index]);
        // The inverse transpose's sign is right also where it mirrors.
        vertex.rest_normal = (linear.inverse().transpose() * Vec3::from(vertex.normal)).normalize().to_array();
        let [x, y, z, side] = vertex.tangent;
        let [x, y, z] = (Vec3::new(x, y, z) + lists[3][index]).to_array();
        vertex.tangent = [x, y, z, side];
        add(&mut vertex.rest_tangent, linear * lists[3][index]);
    }
    for blending in [SkinBlending::Linear, SkinBlending::DualQuaternion] {
        (given.blending, baked.blending) = (blending, blending);
        let (palette, sections) = (palette(), sections());
        let blocks = SkinBlocks::new(given.clone().into());
        let deltas = Deltas { places: [&lists[0], &lists[1]], normals: &lists[2], tangents: &lists[3] };
        let with = |deltas: Deltas<'_>, width: LaneWidth| {
            let (mut inputs, mut out) = (SkinInputs::default(), SkinnedVertices::default());
            inputs.take_palette(&blocks.skin, &palette);
            Vertices::new(&blocks, &inputs, &sections, deltas, &mut out)
                .for_each(|mut some| deform_skin(width, &mut some));
            out
        };
        let found = with(deltas, LaneWidth::Eight);
        for width in [LaneWidth::EightBaseline, LaneWidth::One] {
            assert_eq!(with(deltas, width), found, "{width:?} has other bits");
        }
        let expected = deformed(&SkinBlocks::new(baked.clone().into()), &palette, &sections, LaneWidth::Eight);
        assert!(with(Deltas::default(), LaneWidth::Eight) != found);
        let mut off = [0.0_f32; 3];
        for (index, vertex) in given.vertices.iter().enumerate() {
            off[0] = off[0].max(found.positions[index].distance(expected.positions[index]));
            // As above, where what it follows nearly cancels; and what is left of a normal where little is.
            let joints = vertex.weights.iter().filter(|weight| **weight > 0.0).count();
            let length = Vec3::from(baked.vertices[index].normal).length();
            if joints > 0 && joints < 3 && length > 0.3 {
                off[1] = off[1].max(found.normals[index].distance(expected.normals[index]));
            }
            if joints > 0 && joints < 3 {
                off[2] = off[2].max(found.tangents[index].distance(expected.tangents[index]));
            }
        }
        println!(
            "{blending:?}: places are off by {:.1e} m, normals by {:.1e}, tangents by {:.1e}",
            off[0], off[1], off[2]
        );
        assert!(off[0] < 2.0e-6 && off[1] < 2.0e-5 && off[2] < 2.0e-5);
    }
}

#[test]
#[cfg(feature = "parallel")]
fn any_number_of_threads_gives_the_same_bits() {
    use sinew::{Physics, Pose};
    let flesh = flesh();
    let skin = Arc::new(skin(&flesh, 5000, true));
    let run = |threads: usize| {
        let mut physics = Physics::default();
        physics.config.threads = threads;
        let handle = physics.insert_with_skin(flesh.clone(), skin.clone(), &[], Pose::IDENTITY).unwrap();
        physics.set_palette(handle, palette().into_iter()).unwrap();
        (0..3).for_each(|_| physics.step_flesh(1.0 / 60.0).unwrap());
        physics.vertices(handle).unwrap().clone()
    };
    let one = run(1);
    assert_eq!(one.positions.len(), 5000);
    assert!([2, 3, 7].into_iter().all(|threads| run(threads) == one));
}
