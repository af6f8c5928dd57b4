//! What of an instance is done in a step.

/// What of an instance a step does; it costs what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Active {
    /// Its flesh is stepped. Else it does not move by itself: with its skin it goes with its bones, in the shape that it had
    /// against them; without, it stays where it is until it goes on, from where its bones are then and as fast as they, if they
    /// moved. What it is pushed with in such a step is forgotten.
    pub flesh: bool,
    /// Its skin is deformed. Else [`Physics::vertices`](crate::Physics::vertices) stay as they are.
    pub skin: bool,
}

impl Active {
    /// Neither.
    pub const PAUSED: Self = Self { flesh: false, skin: false };
}

impl Default for Active {
    fn default() -> Self {
        Self { flesh: true, skin: true }
    }
}
