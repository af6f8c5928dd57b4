//! Contact events as a game with entities sees them.

use glam::DVec3;
use hecs::Entity;

#[cfg(feature = "rapier")]
use crate::rigid::{collider_of, rapier3d::prelude::ColliderHandle};
use crate::{ContactPhase, ContactWith, FleshHandle, Physics};

/// One side of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactBody {
    /// A character's flesh; where a contact ended with it, of an entity that is gone.
    Entity(Entity),
    /// Flesh that was inserted by handle.
    Flesh(FleshHandle),
    /// A collider of the rigid world; where a contact ended with it, one that is gone.
    #[cfg(feature = "rapier")]
    Collider(ColliderHandle),
    /// What the world around has with an id ([`ContactWith::World`]).
    #[cfg(not(feature = "rapier"))]
    World(u64),
    /// As [`ContactWith::Plane`].
    Plane(usize),
    /// As [`ContactWith::Solid`].
    Solid(usize),
    /// As [`ContactWith::Body`].
    Body(u64),
}

/// As [`ContactEvent`](crate::ContactEvent), with the entities and colliders in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntityContact {
    /// Who touches: flesh, and what it touches.
    pub sides: [ContactBody; 2],
    /// What happened.
    pub phase: ContactPhase,
    /// With what impulse they pressed, all normal forces summed up over the step (N·s); 0 where they parted.
    pub impulse: f64,
    /// What all that, with friction, gave the first side (N·s); the other one as much the other way.
    pub push: DVec3,
}

/// Who began to touch whom, who goes on, and who parted, in the steps of which [`Physics::contact_events`] tells; nothing where
/// [`Physics::gather_events`] is off.
pub fn contact_events(physics: &Physics) -> impl ExactSizeIterator<Item = EntityContact> {
    physics.contact_events().map(|event| {
        let flesh = |entity: Option<Entity>, handle| entity.map_or(ContactBody::Flesh(handle), ContactBody::Entity);
        let [own, theirs] = event.entities;
        let other = match event.other {
            ContactWith::Flesh(handle) => flesh(theirs, handle),
            ContactWith::Plane(at) => ContactBody::Plane(at),
            ContactWith::Solid(at) => ContactBody::Solid(at),
            ContactWith::Body(id) => ContactBody::Body(id),
            #[cfg(feature = "rapier")]
            ContactWith::World(id) => ContactBody::Collider(collider_of(id)),
            #[cfg(not(feature = "rapier"))]
            ContactWith::World(id) => ContactBody::World(id),
        };
        let sides = [flesh(own, event.flesh), other];
        EntityContact { sides, phase: event.phase, impulse: event.impulse, push: event.push }
    })
}
