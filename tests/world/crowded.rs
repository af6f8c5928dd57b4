//! Characters whose flesh meets where bones leave it no room.

use sinew::Pose;
use sinew::components::RootTransform;

use super::{Scene, at, character};

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
