//! Factor and solve of one node's 7×7 block in the block-tridiagonal system of a chain; its twin is
//! `shaders/shared/block_tridiagonal.wgsl`.
//!
//! Nodes are eliminated in order. With D_j the node's block after the nodes before it are gone, D_j = L d Lᵀ, and
//! B_j its coupling to the next node: X = L⁻¹B_j and y = L⁻¹r_j are kept, D_{j+1} loses Xᵀd⁻¹X and r_{j+1} loses
//! Xᵀd⁻¹y. Then backwards, δ_j = L⁻ᵀ d⁻¹(y − X δ_{j+1}).

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::lanes::{Lane, Lanes, unrolled};
use super::rod_energies::{Mat7, UNKNOWNS, Vec7};

/// Factors the block (its lower triangle) in place into L below the diagonal, and returns one over the pivots.
///
/// A pivot below `least` is nothing but rounding, of either sign: its unknown stays where it is, which one over the
/// pivot being 0 does here and in all that follows.
#[inline(always)]
pub fn factor<L: Lanes>(lanes: L, block: &mut Mat7<L::V>, least: &Vec7<L::V>) -> Vec7<L::V> {
    let one = lanes.splat(1.0);
    let mut inv_pivot = [one; UNKNOWNS];
    unrolled!(for j in 0..7 {
        inv_pivot[j] = block[j][j].where_less(least[j], lanes.splat(0.0), one / block[j][j]);
        let mut below = [one; UNKNOWNS];
        for i in j + 1..UNKNOWNS {
            below[i] = block[i][j];
            block[i][j] = below[i] * inv_pivot[j];
        }
        unrolled!(for i in 0..7 {
            if i > j {
                for k in j + 1..=i {
                    block[i][k] = block[i][k] - block[i][j] * below[k];
                }
            }
        });
    });
    inv_pivot
}

/// L⁻¹ v.
#[inline(always)]
pub fn solve_lower<V: Lane>(lower: &Mat7<V>, v: &mut Vec7<V>) {
    unrolled!(for i in 0..7 {
        for k in 0..i {
            v[i] = v[i] - lower[i][k] * v[k];
        }
    });
}

/// L⁻¹ of every column of a block.
#[inline(always)]
pub fn solve_lower_columns<V: Lane>(lower: &Mat7<V>, block: &mut Mat7<V>) {
    unrolled!(for column in 0..7 {
        unrolled!(for i in 0..7 {
            for k in 0..i {
                block[i][column] = block[i][column] - lower[i][k] * block[k][column];
            }
        });
    });
}

/// The next node's block (lower triangle) without Xᵀd⁻¹X, in place of this one's; what its diagonal loses.
#[inline(always)]
pub fn eliminate<L: Lanes>(
    lanes: L,
    coupling: &Mat7<L::V>,
    inv_pivot: &Vec7<L::V>,
    next_block: &Mat7<L::V>,
    block: &mut Mat7<L::V>,
) -> Vec7<L::V> {
    let mut lost = [lanes.splat(0.0); UNKNOWNS];
    unrolled!(for i in 0..7 {
        let mut row = next_block[i];
        unrolled!(for k in 0..7 {
            let scaled = coupling[k][i] * inv_pivot[k];
            for j in 0..=i {
                row[j] = row[j] - scaled * coupling[k][j];
            }
        });
        block[i][..=i].copy_from_slice(&row[..=i]);
        lost[i] = next_block[i][i] - row[i];
    });
    lost
}

/// The next node's right-hand side, its gradient's opposite, without Xᵀd⁻¹y, in place of this one's.
#[inline(always)]
pub fn eliminate_rhs<V: Lane>(coupling: &Mat7<V>, inv_pivot: &Vec7<V>, next_gradient: &Vec7<V>, rhs: &mut Vec7<V>) {
    let mut scaled = *rhs;
    unrolled!(for k in 0..7 {
        scaled[k] = rhs[k] * inv_pivot[k];
    });
    unrolled!(for i in 0..7 {
        rhs[i] = -next_gradient[i];
        for k in 0..UNKNOWNS {
            rhs[i] = rhs[i] - coupling[k][i] * scaled[k];
        }
    });
}
