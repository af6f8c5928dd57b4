// Factor and solve of one node's 7×7 block in the block-tridiagonal system of a chain; the twin of
// src/cpu/block_tridiagonal.rs.
//
// Nodes are eliminated in order. With D_j the node's block after the nodes before it are gone, D_j = L d Lᵀ, and
// B_j its coupling to the next node: X = L⁻¹B_j and y = L⁻¹r_j are kept, D_{j+1} loses Xᵀd⁻¹X and r_{j+1} loses
// Xᵀd⁻¹y. Then backwards, δ_j = L⁻ᵀ d⁻¹(y − X δ_{j+1}).

// A 7-vector over a node's unknowns: place (3), scale, rotation (3).
alias Vec7 = array<f32, UNKNOWNS>;
// A 7×7 block by rows; of a symmetric one only the lower triangle is meant.
alias Mat7 = array<array<f32, UNKNOWNS>, UNKNOWNS>;

// Factors the block (its lower triangle) in place into L below the diagonal, and returns one over the pivots.
//
// A pivot below `least` is nothing but rounding, of either sign: its unknown stays where it is, which one over the
// pivot being 0 does here and in all that follows.
fn factor(block: ptr<function, Mat7>, least: ptr<function, Vec7>) -> Vec7 {
    var inv_pivot: Vec7;
    var below: Vec7;
    for (var j = 0u; j < UNKNOWNS; j++) {
        let pivot = (*block)[j][j];
        inv_pivot[j] = where_less(pivot, (*least)[j], 0.0, 1.0 / pivot);
        for (var i = j + 1u; i < UNKNOWNS; i++) {
            below[i] = (*block)[i][j];
            (*block)[i][j] = below[i] * inv_pivot[j];
        }
        for (var i = j + 1u; i < UNKNOWNS; i++) {
            for (var k = j + 1u; k <= i; k++) {
                (*block)[i][k] = (*block)[i][k] - (*block)[i][j] * below[k];
            }
        }
    }
    return inv_pivot;
}

// L⁻¹ v.
fn solve_lower(lower: ptr<function, Mat7>, v: ptr<function, Vec7>) {
    for (var i = 1u; i < UNKNOWNS; i++) {
        for (var k = 0u; k < i; k++) {
            (*v)[i] = (*v)[i] - (*lower)[i][k] * (*v)[k];
        }
    }
}

// L⁻¹ of every column of a block.
fn solve_lower_columns(lower: ptr<function, Mat7>, block: ptr<function, Mat7>) {
    for (var i = 1u; i < UNKNOWNS; i++) {
        for (var k = 0u; k < i; k++) {
            for (var column = 0u; column < UNKNOWNS; column++) {
                (*block)[i][column] = (*block)[i][column] - (*lower)[i][k] * (*block)[k][column];
            }
        }
    }
}

// The next node's block (lower triangle) without Xᵀd⁻¹X, in place of this one's; what its diagonal loses.
fn eliminate(
    coupling: ptr<function, Mat7>,
    inv_pivot: ptr<function, Vec7>,
    next_block: ptr<function, Mat7>,
    block: ptr<function, Mat7>,
) -> Vec7 {
    var lost: Vec7;
    for (var i = 0u; i < UNKNOWNS; i++) {
        var row = (*next_block)[i];
        for (var k = 0u; k < UNKNOWNS; k++) {
            let scaled = (*coupling)[k][i] * (*inv_pivot)[k];
            for (var j = 0u; j <= i; j++) {
                row[j] = row[j] - scaled * (*coupling)[k][j];
            }
        }
        for (var j = 0u; j <= i; j++) {
            (*block)[i][j] = row[j];
        }
        lost[i] = (*next_block)[i][i] - row[i];
    }
    return lost;
}

// The next node's right-hand side, its gradient's opposite, without Xᵀd⁻¹y, in place of this one's.
fn eliminate_rhs(
    coupling: ptr<function, Mat7>,
    inv_pivot: ptr<function, Vec7>,
    next_gradient: ptr<function, Vec7>,
    rhs: ptr<function, Vec7>,
) {
    var scaled: Vec7;
    for (var k = 0u; k < UNKNOWNS; k++) {
        scaled[k] = (*rhs)[k] * (*inv_pivot)[k];
    }
    for (var i = 0u; i < UNKNOWNS; i++) {
        (*rhs)[i] = -(*next_gradient)[i];
        for (var k = 0u; k < UNKNOWNS; k++) {
            (*rhs)[i] = (*rhs)[i] - (*coupling)[k][i] * scaled[k];
        }
    }
}
