//! Characters whose flesh meets where bones leave it no room.

use glam::{DQuat, DVec3};
use hecs::Entity;
use sinew::components::RootTransform;
use sinew::step::StepConfig;
use sinew::{Character, Pose};

use super::{FRAME, Scene, asset_file, at, character, common};

/// Two on one spot, held in each other by their bones: neither can give way beside a held node, and no contact there may be as stiff as
/// that would have it. It threw flesh at 10¹⁴ m/s, and went on with that once they had parted.
#[test]
fn two_on_one_spot_press_and_part_again() {
    let mut scene = Scene::default();
    scene.physics.config.passes = 6;
    let arm = character("arm.glb");
    let [stays, leaves] = [(); 2].map(|()| scene.spawn(&arm, Pose::IDENTITY));
    let (mut fastest, mut touching) = (0.0_f64, 0);
    for _ in 0..120 {
        scene.step();
        fastest = fastest.max(scene.physics.quality().speed_max);
        touching += scene.physics.flesh_contacts().count();
    }
    scene.world.query_one_mut::<&mut RootTransform>(leaves).expect("is there").0 = at(3.0, 0.0, 0.0);
    (0..60).for_each(|_| scene.step());
    let left = scene.physics.quality().speed_max;
    println!("{fastest:.1} m/s at most (bar 30), a second after they parted {left:.1e} m/s (bar 0.01)");
    assert!(fastest < 30.0 && left < 0.01 && touching > 1000, "{touching} contacts");
    let [stays, leaves] = [stays, leaves].map(|entity| scene.skin(entity).positions);
    let apart = stays.iter().zip(&leaves).map(|(a, b)| a.distance(*b));
    let apart = apart.fold(0.0, f32::max);
    println!("their skins are the same within {apart:.1e} m (bar 1e-3)");
    assert!(apart < 1.0e-3);
}

/// How fast each of two walks (m/s), and how far beside the other it goes by (m).
const WALKS: f64 = 1.4;
const BESIDE: f64 = 0.1;

/// Two that walk through each other: flesh that bones carry into the other's yields, or is let by. It was caught, drawn along, up to ten
/// times as long, and tore loose at 34 m/s.
#[test]
fn two_that_walk_through_each_other_come_by() {
    for (name, character) in walkers() {
        for substeps in [2, 4] {
            let mut scene = crowd(substeps);
            let there = |time: f64, side: f64| {
                let turn = DQuat::from_rotation_y(if side < 0.0 { std::f64::consts::PI } else { 0.0 });
                Pose::new(DVec3::new(side * WALKS * (time - 1.2), 0.0, 0.5 * side * BESIDE), turn)
            };
            let both = [1.0, -1.0].map(|side| scene.spawn(&character, there(0.0, side)));
            let (mut longest, mut touching) = (0.0_f64, 0);
            for frame in 1..=144 {
                let time = f64::from(frame) * FRAME;
                for (entity, side) in both.iter().zip([1.0, -1.0]) {
                    scene.world.query_one_mut::<&mut RootTransform>(*entity).expect("is there").0 = there(time, side);
                    if !character.asset().animations.is_empty() {
                        scene.animate(*entity, time + 0.15 * side);
                    }
                }
                scene.step();
                longest = both.iter().map(|entity| scene.longest(*entity)).fold(longest, f64::max);
                touching += scene.physics.flesh_contacts().count();
            }
            let resets: u32 = both.iter().map(|entity| scene.health(*entity).resets).sum();
            println!(
                "{name}, {substeps} substeps: {longest:.2} times as long as bones have it at most (bar 1.4), {resets} laid anew, \
                 {touching} contacts"
            );
            assert!(longest < 1.4 && resets == 0 && touching > 0);
        }
    }
}

/// Two that stand in each other, 6 cm apart, come to rest, or tremble where more than two meet. They were pushed to and fro at some
/// m/s, and laid anew.
#[test]
fn two_that_stand_in_each_other_lie_still() {
    for (name, character) in walkers() {
        for substeps in [2, 4] {
            let mut scene = crowd(substeps);
            let both = [0.0, 0.06].map(|z| scene.spawn(&character, at(0.0, 0.0, z)));
            let (mut fastest, mut longest) = (Vec::new(), 0.0_f64);
            for frame in 0..240 {
                scene.step();
                if frame >= 180 {
                    fastest.push(scene.physics.quality().speed_max);
                    longest = both.iter().map(|entity| scene.longest(*entity)).fold(longest, f64::max);
                }
            }
            let resets: u32 = both.iter().map(|entity| scene.health(*entity).resets).sum();
            // The median of what the fastest node has: the most of a second hangs on roundings, by a half of it.
            fastest.sort_by(f64::total_cmp);
            let (median, most) = (fastest[30], fastest[59]);
            let bar = if name == "Knight.glb" { 0.8 } else { 0.15 };
            println!(
                "{name}, {substeps} substeps: {median:.2} m/s in the fourth second (bar 0.1), {most:.2} at most (bar {bar}), {longest:.2} times \
                 as long as bones have it (bar 1.15), {resets} laid anew"
            );
            assert!(median < 0.1 && most < bar && longest < 1.15 && resets == 0);
        }
    }
}

/// The crate's own characters, and those of the shared data that have fitted flesh.
fn walkers() -> Vec<(&'static str, Character)> {
    let own = ["arm.glb", "octopus.glb"].map(|name| (name, Character::load(asset_file(name)).expect("loads")));
    let shared = [("gltf_humanoid/kaykit", "Knight.glb"), ("gltf_humanoid", "godot_platformer_player.glb")];
    let shared = shared
        .into_iter()
        .filter_map(|(folder, name)| Some((name, Character::load(common::data(folder)?.join(name)).expect("loads"))));
    own.into_iter().chain(shared).collect()
}

/// A ground on which chains meet.
fn crowd(substeps: u32) -> Scene {
    let mut scene = Scene::default();
    scene.physics.config = StepConfig { substeps, passes: 6, ..StepConfig::default() };
    scene.rigid.spawn_ground(0.0, 0.8).expect("spawns");
    scene
}

impl Scene {
    /// How long a chain is at most over its length where its bones carry it.
    fn longest(&self, entity: Entity) -> f64 {
        let handle = self.flesh(entity);
        let flesh = self.physics.flesh(handle).expect("is there");
        let length = |path: &[DVec3]| path.windows(2).map(|ends| ends[0].distance(ends[1])).sum::<f64>();
        let stretch = |(chain, count): (usize, usize)| {
            let nodes: Vec<DVec3> =
                (0..count).map(|node| self.physics.node(handle, chain, node).expect("is there").place).collect();
            let swing = |node: usize| self.physics.swing(handle, chain, node).expect("is there");
            let carried: Vec<DVec3> = nodes.iter().enumerate().map(|(node, place)| *place - swing(node)).collect();
            length(&nodes) / length(&carried)
        };
        flesh.chains().iter().map(|chain| chain.node_count()).enumerate().map(stretch).fold(0.0, f64::max)
    }
}
