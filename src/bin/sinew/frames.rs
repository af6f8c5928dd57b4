//! The frames of `run` and `scene`.

use std::time::{Duration, Instant};

use sinew::{FleshHandle, Physics};

use crate::report::Clock;
use crate::{Error, PictureArgs, StepArgs};

/// Keeps frames while stepping, and draws them at the end.
pub trait Film {
    /// Keeps how things stand.
    fn shoot(&mut self, physics: &Physics, handle: FleshHandle) -> Result<(), Error>;

    /// Draws and writes what is asked for.
    fn save(self, pictures: &PictureArgs) -> Result<(), Error>;
}

/// Takes all frames and saves the pictures asked for; `film` is made only where there are any. `step` takes the
/// frame's number, from 1 on, and returns how long stepping took.
pub fn step_frames<F: Film>(
    args: &StepArgs,
    physics: &mut Physics,
    handle: FleshHandle,
    film: impl FnOnce() -> F,
    mut step: impl FnMut(&mut Physics, u32) -> Result<Duration, Error>,
) -> Result<Clock, Error> {
    let pictured = args.pictures.gif.is_some() || args.pictures.png.is_some();
    let mut film = pictured.then(film);
    let mut clock = Clock::default();
    for frame in 1..=args.of_frames.frames {
        let time = step(physics, frame)?;
        clock.add(time, physics);
        if let Some(film) = &mut film {
            physics.finish()?;
            film.shoot(physics, handle)?;
        }
    }
    if let Some(film) = film {
        film.save(&args.pictures)?;
    }
    physics.finish()?;
    clock.judge(physics);
    Ok(clock)
}

/// How long something took that may fail.
pub fn timed<E>(run: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed())
}
