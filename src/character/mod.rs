//! What a character is: its asset, how it is read from glTF, how its pose moves and where its flesh goes.

mod asset;

pub use asset::*;
