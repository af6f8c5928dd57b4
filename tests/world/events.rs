//! Contact events between entities.

use sinew::step::StepConfig;
use sinew::world::{ContactBody, contact_events};
use sinew::{ContactPhase, Physics};

use super::{Scene, at, character};

/// Two arms that are spawned in each other touch as entities; one that is despawned has its contact end, and is named in that.
#[test]
fn entities_touch_and_part() {
    let arm = character("arm.glb");
    let config = StepConfig { passes: 6, ..StepConfig::default() };
    let mut scene = Scene { physics: Physics::with_config(config), ..Scene::default() };
    scene.physics.gather_events = true;
    let one = scene.spawn(&arm, at(0.0, 0.0, 0.0));
    let other = scene.spawn(&arm, at(0.03, 0.0, 0.0));
    let far = scene.spawn(&arm, at(30.0, 0.0, 0.0));
    let sides = [one, other].map(ContactBody::Entity);
    for phase in [ContactPhase::Began, ContactPhase::GoesOn] {
        scene.step();
        let events: Vec<_> = contact_events(&scene.physics).collect();
        println!("{events:?}");
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].sides, events[0].phase), (sides, phase));
        assert!(events[0].impulse > 0.0 && events[0].push.length() <= 2.0 * events[0].impulse);
    }
    scene.world.despawn(other).expect("is there");
    scene.step();
    let events: Vec<_> = contact_events(&scene.physics).collect();
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].sides, events[0].phase, events[0].impulse), (sides, ContactPhase::Ended, 0.0));
    scene.despawn(far);
    scene.step();
    assert_eq!(contact_events(&scene.physics).len(), 0);
}
