//! The harmonic field from sources to sinks (Choi and Blemker 2013).

use super::{
    ViperizeError,
    ends::Role,
    grid::{NONE, VolumeGrid},
};

/// Relative residual to reach.
const TOLERANCE: f64 = 1e-7;
/// Iterations at most.
const ITERATIONS: usize = 4000;
/// How far the incomplete factor keeps row sums, and the pivot below which it does not (Bridson 2015, 5.5).
const MODIFIED: f64 = 0.97;
const PIVOT: f64 = 0.25;

/// Solves ∇²φ = 0 with φ = 0 on source cells, 1 on sink cells and no flux through the surface, by finite volumes and
/// conjugate gradients with a modified incomplete Cholesky factor. `field` holds a first guess and takes the answer.
///
/// # Errors
/// [`ViperizeError::Harmonic`].
pub(super) fn solve(grid: &VolumeGrid, roles: &[Role], field: &mut [f64]) -> Result<(), ViperizeError> {
    let system = System::new(grid, roles);
    for (value, role) in field.iter_mut().zip(roles) {
        match role {
            Role::Source => *value = 0.0,
            Role::Sink => *value = 1.0,
            Role::Free => {}
        }
    }
    let count = grid.cells.len();
    let mut residual = vec![0.0; count];
    let mut ends = vec![0.0; count];
    for (index, role) in roles.iter().enumerate() {
        if *role == Role::Free {
            for (&neighbour, &open) in grid.cells[index].neighbours.iter().zip(&grid.cells[index].open) {
                if neighbour != NONE && roles[neighbour as usize] == Role::Sink {
                    ends[index] += f64::from(open);
                }
            }
        }
    }
    let scale = dot(&ends, &ends).sqrt();
    let mut image = vec![0.0; count];
    let mut guess = field.to_vec();
    for (value, role) in guess.iter_mut().zip(roles) {
        if *role != Role::Free {
            *value = 0.0;
        }
    }
    system.apply(&guess, &mut image);
    for index in 0..count {
        residual[index] = ends[index] - image[index];
    }
    let mut relaxed = vec![0.0; count];
    system.precondition(&residual, &mut relaxed);
    let mut direction = relaxed.clone();
    let mut product = dot(&residual, &relaxed);
    let mut reached = dot(&residual, &residual).sqrt() / scale;
    for _ in 0..ITERATIONS {
        if reached <= TOLERANCE {
            break;
        }
        system.apply(&direction, &mut image);
        let step = product / dot(&direction, &image);
        for index in 0..count {
            guess[index] += step * direction[index];
            residual[index] -= step * image[index];
        }
        reached = dot(&residual, &residual).sqrt() / scale;
        system.precondition(&residual, &mut relaxed);
        let next = dot(&residual, &relaxed);
        for index in 0..count {
            direction[index] = relaxed[index] + next / product * direction[index];
        }
        product = next;
    }
    if !(reached <= TOLERANCE) {
        return Err(ViperizeError::Harmonic { residual: reached });
    }
    for (index, role) in roles.iter().enumerate() {
        if *role == Role::Free {
            field[index] = guess[index].clamp(0.0, 1.0);
        }
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The matrix over free cells: open quarters of faces; a row of zeros and a pivot of 0 stand for any other cell.
struct System {
    diagonal: Vec<f64>,
    /// Neighbours along −x, −y, −z, +x, +y, +z; itself where there is none.
    neighbours: Vec<[u32; 6]>,
    /// Open quarters to them; 0 where there is none.
    open: Vec<[f64; 6]>,
    /// Inverse pivots of the incomplete factor.
    pivots: Vec<f64>,
}

impl System {
    fn new(grid: &VolumeGrid, roles: &[Role]) -> Self {
        let count = grid.cells.len();
        let mut system = Self {
            diagonal: vec![0.0; count],
            neighbours: vec![[0; 6]; count],
            open: vec![[0.0; 6]; count],
            pivots: vec![0.0; count],
        };
        for (index, cell) in grid.cells.iter().enumerate() {
            for side in 0..6 {
                let neighbour = cell.neighbours[side];
                system.neighbours[index][side] = index as u32;
                if roles[index] != Role::Free || neighbour == NONE {
                    continue;
                }
                system.diagonal[index] += f64::from(cell.open[side]);
                if roles[neighbour as usize] == Role::Free {
                    system.neighbours[index][side] = neighbour;
                    system.open[index][side] = f64::from(cell.open[side]);
                }
            }
        }
        for index in 0..count {
            if roles[index] != Role::Free {
                continue;
            }
            let mut pivot = system.diagonal[index];
            for side in 0..3 {
                let open = system.open[index][side];
                if open > 0.0 {
                    let before = system.neighbours[index][side] as usize;
                    let squared = system.pivots[before] * system.pivots[before];
                    let rest: f64 = system.open[before][3..].iter().sum::<f64>() - open;
                    pivot -= open * squared * (open + MODIFIED * rest);
                }
            }
            if pivot < PIVOT * system.diagonal[index] {
                pivot = system.diagonal[index];
            }
            system.pivots[index] = pivot.sqrt().recip();
        }
        system
    }

    fn apply(&self, x: &[f64], image: &mut [f64]) {
        for index in 0..x.len() {
            let (neighbours, open) = (&self.neighbours[index], &self.open[index]);
            let mut sum = self.diagonal[index] * x[index];
            for side in 0..6 {
                sum -= open[side] * x[neighbours[side] as usize];
            }
            image[index] = sum;
        }
    }

    fn precondition(&self, residual: &[f64], relaxed: &mut [f64]) {
        for index in 0..residual.len() {
            let mut sum = residual[index];
            for side in 0..3 {
                let before = self.neighbours[index][side] as usize;
                sum += self.open[index][side] * self.pivots[before] * relaxed[before];
            }
            relaxed[index] = sum * self.pivots[index];
        }
        for index in (0..residual.len()).rev() {
            let mut sum = relaxed[index];
            for side in 3..6 {
                let after = self.neighbours[index][side] as usize;
                sum += self.open[index][side] * self.pivots[index] * relaxed[after];
            }
            relaxed[index] = sum * self.pivots[index];
        }
    }
}
