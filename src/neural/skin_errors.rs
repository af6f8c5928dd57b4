//! What skin lacks against skin that is simulated, by the vertices that skinning alone does not put there.

/// A vertex moves beyond skinning where the root mean square of its displacement is more than this share of the largest vertex's.
pub const MOVING_SHARE: f64 = 0.01;

/// What each vertex lacks against simulated skin, over any number of poses: by skinning alone, and with a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinErrors {
    poses: u32,
    vertices: Vec<[Sum; 2]>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    squares: f64,
    largest: f64,
}

/// What moves skin where something is lacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SkinnedBy {
    /// Linear blend skinning alone.
    Joints,
    /// A network beside it.
    Network,
}

/// What some vertices lack, by skinning alone and with a network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SkinFigures {
    /// How many vertices they are.
    pub vertices: usize,
    /// Root mean square of what they lack, and the most that one lacks (m), by skinning alone.
    pub skinning: [f64; 2],
    /// The same with the network.
    pub network: [f64; 2],
}

impl SkinFigures {
    /// Which share of what skinning lacks (RMS) the network removes; negative where it adds to it, 0 where skinning lacks nothing.
    pub fn removed(&self) -> f64 {
        if self.skinning[0] > 0.0 { 1.0 - self.network[0] / self.skinning[0] } else { 0.0 }
    }
}

impl SkinErrors {
    /// Of so many vertices in no pose yet.
    pub fn new(vertices: usize) -> Self {
        Self { poses: 0, vertices: vec![Default::default(); vertices] }
    }

    /// Takes in a pose: for each vertex, how far from its simulated place (m) skinning puts it, and skinning with the network.
    ///
    /// # Panics
    /// Where there are not as many as vertices.
    pub fn add(&mut self, lacks: impl ExactSizeIterator<Item = [f32; 2]>) {
        assert_eq!(lacks.len(), self.vertices.len(), "one pair a vertex");
        self.poses += 1;
        for (sums, lacks) in self.vertices.iter_mut().zip(lacks) {
            for (sum, lack) in sums.iter_mut().zip(lacks.map(f64::from)) {
                sum.squares += lack * lack;
                sum.largest = sum.largest.max(lack);
            }
        }
    }

    /// Takes in the poses of others of the same mesh.
    ///
    /// # Panics
    /// Where they have another number of vertices.
    pub fn join(&mut self, others: &Self) {
        assert_eq!(others.vertices.len(), self.vertices.len(), "vertices of one mesh");
        self.poses += others.poses;
        for (sum, other) in self.vertices.iter_mut().flatten().zip(others.vertices.iter().flatten()) {
            sum.squares += other.squares;
            sum.largest = sum.largest.max(other.largest);
        }
    }

    /// How many poses there are.
    pub fn poses(&self) -> u32 {
        self.poses
    }

    /// Each vertex's root mean square (m).
    pub fn rms(&self, by: SkinnedBy) -> Vec<f32> {
        let count = f64::from(self.poses.max(1));
        self.vertices.iter().map(|sums| (sums[by as usize].squares / count).sqrt() as f32).collect()
    }

    /// For each vertex, whether it moves beyond skinning: see [`MOVING_SHARE`].
    pub fn moving(&self) -> Vec<bool> {
        let squares = |sums: &[Sum; 2]| sums[SkinnedBy::Joints as usize].squares;
        let least = self.vertices.iter().map(squares).fold(0.0, f64::max) * MOVING_SHARE * MOVING_SHARE;
        self.vertices.iter().map(|sums| squares(sums) > least).collect()
    }

    /// What some vertices lack, over all poses.
    pub fn over(&self, vertices: impl IntoIterator<Item = usize>) -> SkinFigures {
        let mut figures = SkinFigures::default();
        for vertex in vertices {
            figures.vertices += 1;
            for (of, sum) in [&mut figures.skinning, &mut figures.network].into_iter().zip(&self.vertices[vertex]) {
                *of = [of[0] + sum.squares, of[1].max(sum.largest)];
            }
        }
        let count = f64::from(self.poses.max(1)) * figures.vertices.max(1) as f64;
        for of in [&mut figures.skinning, &mut figures.network] {
            of[0] = (of[0] / count).sqrt();
        }
        figures
    }

    /// What the vertices that move beyond skinning lack.
    pub fn over_moving(&self) -> SkinFigures {
        self.over(self.moving().into_iter().enumerate().filter_map(|(vertex, moves)| moves.then_some(vertex)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hardly_moves_does_not_count() {
        let mut errors = SkinErrors::new(4);
        // 0.9 and 1.1 % of the largest, and one that moves not at all but that the network moves.
        errors.add([[0.5, 0.25], [0.0045, 0.1], [0.0055, 0.0], [0.0, 0.2]].into_iter());
        errors.add([[0.5, 0.0], [0.0045, 0.1], [0.0055, 0.0], [0.0, 0.2]].into_iter());
        assert_eq!(errors.moving(), [true, false, true, false]);
        let figures = errors.over_moving();
        let rms = |squares: f64| (squares / 4.0).sqrt();
        assert_eq!((figures.vertices, figures.skinning[1], figures.network[1]), (2, 0.5, 0.25));
        assert!((figures.skinning[0] - rms(0.5 + 2.0 * 0.0055 * 0.0055)).abs() < 1.0e-8);
        assert!((figures.network[0] - rms(0.0625)).abs() < 1.0e-8);
        assert!((figures.removed() - (1.0 - rms(0.0625) / figures.skinning[0])).abs() < 1.0e-8);
        assert!((errors.rms(SkinnedBy::Network)[0] - (0.0625_f32 / 2.0).sqrt()).abs() < 1.0e-7);
        assert!(errors.over([3]).removed() == 0.0, "of nothing nothing is removed");

        let mut halves = [SkinErrors::new(4), SkinErrors::new(4)];
        halves[0].add([[0.5, 0.25], [0.0045, 0.1], [0.0055, 0.0], [0.0, 0.2]].into_iter());
        halves[1].add([[0.5, 0.0], [0.0045, 0.1], [0.0055, 0.0], [0.0, 0.2]].into_iter());
        let [mut joined, other] = halves;
        joined.join(&other);
        assert_eq!(joined, errors);
    }
}
