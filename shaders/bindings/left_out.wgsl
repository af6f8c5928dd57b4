// What passes of chains that meet others left out of their momentum, and what is given to them for it; the twin of
// src/cpu/left_out.rs, which says why.

// What passes left out of a momentum is given up to this share of what was gained in the substep or, up to MOST_GIVEN, of what there
// was, and LEAST_GIVEN more.
const MOST_LEFT_OUT: f32 = 0.5;
// Both in m/s.
const MOST_GIVEN: f32 = 5.0;
const LEAST_GIVEN: f32 = 0.1;
// What gains no more than so many times what it falls in a substep lies on others, and is given no more than LYING_GIVEN of that.
const LIES: f32 = 1.5;
const LYING_GIVEN: f32 = 0.01;

// Gives a free chain, as a rigid body, the momentum that passes left out. Sections of what moves spin with it, the less the more it lies.
fn restore(chain: Chain) {
    let body = body_of(chain);
    let missing = left_out(balance_of(chain, body.centre));
    let velocity = missing.momentum.linear * where_less(0.0, body.mass, 1.0 / larger(body.mass, MIN_POSITIVE), 0.0);
    let spin = spin_of(body.inertia, missing.momentum.angular, SLENDER + missing.moves * (SLENDEREST - SLENDER));
    add_motion(chain, RigidMotion(body.centre, velocity, spin), missing.moves);
}

// A momentum (kg·m/s) and its moment about a point (kg·m²/s).
struct Momentum {
    linear: vec3<f32>,
    angular: vec3<f32>,
}

// Of a force at a point, and a couple.
fn momentum_at(point: vec3<f32>, force: vec3<f32>, couple: vec3<f32>) -> Momentum {
    return Momentum(force, cross(point, force) + couple);
}

// All of what a row presses with, at a point.
fn momentum_of_row(row: ContactRow, presses: Presses, point: vec3<f32>) -> Momentum {
    return momentum_at(point, row.direction * presses.force + across(presses.pull, row.direction), presses.couple);
}

fn momentum_times(momentum: Momentum, by: f32) -> Momentum {
    return Momentum(momentum.linear * by, momentum.angular * by);
}

fn momentum_difference(one: Momentum, other: Momentum) -> Momentum {
    return Momentum(one.linear - other.linear, one.angular - other.angular);
}

// About a point from which the one that it was about is so far.
fn momentum_shifted(momentum: Momentum, arm: vec3<f32>) -> Momentum {
    return momentum_at(arm, momentum.linear, momentum.angular);
}

fn momentum_sum(one: Momentum, other: Momentum) -> Momentum {
    return Momentum(one.linear + other.linear, one.angular + other.angular);
}

// How the momentum of a chain, or of all chains of a tree, came about in a substep.
struct Balance {
    mass: f32,
    // How much falling gives it (kg·m/s).
    falls: f32,
    // A segment's length (m).
    length: f32,
    // What it had, as predicted (kg·m/s).
    had: vec3<f32>,
    // What it gained.
    went: Momentum,
    // What it lacks by what pairs press with and the system has of it.
    by_rows: Momentum,
    // What it lacks by what pairs press with and it gained.
    by_motion: Momentum,
    // 1 where it was led astray or went far.
    rough: f32,
    // 1 where half-spaces hold it.
    held: f32,
    // 1 where its steps are second-order.
    second_order: f32,
    // 1 where it is free; chains that meet nobody have no nodes here.
    free: f32,
}

// What passes left out, and 1 where that moves, 0 where it lies on others, or between.
struct LeftOut {
    momentum: Momentum,
    moves: f32,
}

// A chain's, about a point from its origin.
fn balance_of(chain: Chain, about: vec3<f32>) -> Balance {
    var balance = Balance();
    // What pairs press with, where they touched at the start, and what of it is missing.
    var pressed: Momentum;
    var missing: Momentum;
    for (var index = 0u; index < chain.node_count; index++) {
        var meets = meets_at(chain, index);
        while go_to_next(chain, &meets) {
            let row = load_contact_row(meets);
            let solved = solved_row_of(meets.at);
            let start = node3(node_row_of(chain, index), NODE_PREV_PLACE);
            let end = node3(node_row_of(chain, index + 1u), NODE_PREV_PLACE);
            let point = start + (end - start) * row.along + contact3(meets.at, CONTACT_MIDDLE) - about;
            let wanted = momentum_of_row(row, load_presses(solved, SOLVED_ENTRIES), point);
            let has = momentum_of_row(row, has_of(meets.at, solved), point);
            pressed = momentum_sum(pressed, wanted);
            missing = momentum_sum(missing, momentum_difference(wanted, has));
        }
    }
    balance.second_order = second_order_of(chain);
    let inv_step = params.inv_h * (1.0 + balance.second_order * 0.5);
    let step = 1.0 / inv_step;
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        let rest_row = rest_row_of(chain, index);
        let m = weight_of(rest_row, REST_MASS);
        balance.mass = balance.mass + m;
        balance.had = balance.had + node3(row, NODE_VELOCITY) * m;
        let lag = node3(row, NODE_MOVED) - node3(row, NODE_PREDICTED_MOVE);
        let arm = node3(row, NODE_PREV_PLACE) - about;
        let turned_by = turn_on(node4(row, NODE_PREDICTED_FRAME), node4(row, NODE_FRAME));
        let spun = (inertia_of_section(rest_row, row, NODE_PREDICTED_FRAME, NODE_PREV_SCALE) * turned_by) * inv_step;
        balance.went = momentum_sum(balance.went, momentum_at(arm, lag * (m * inv_step), spun));
    }
    let count = row_count_of(chain);
    for (var slot = 0u; slot < count; slot++) {
        balance.held = where_less(0.0, contact_at(row_of(chain, slot), CONTACT_DUAL), 1.0, balance.held);
    }
    balance.falls = balance.mass * length(falls_of(chain)) * step;
    balance.length = rest_at(rest_row_of(chain, 0u), REST_LENGTH);
    balance.by_rows = momentum_times(missing, step);
    balance.by_motion = momentum_difference(momentum_times(pressed, step), balance.went);
    balance.rough = chain_at(chain.chain, CHAIN_ROUGH);
    balance.free = where_less(input_at(chain.input, INPUT_HANGS), 0.5, 1.0, 0.0);
    return balance;
}

// What of the momentum passes left out.
//
// All that is missing of it is told by where it went. Not of what half-spaces hold, with what force they do is not known so well: what
// was led astray there is given nothing. Of second-order steps only what was led astray is told so.
fn left_out(balance: Balance) -> LeftOut {
    let unheld = 1.0 - balance.held;
    let is_told = larger(balance.rough, unheld * (1.0 - balance.second_order));
    var given = balance.by_rows;
    if is_told > 0.5 {
        given = momentum_times(balance.by_motion, unheld);
    }
    let went = length(balance.went.linear);
    let falls = larger(balance.falls, MIN_POSITIVE);
    let moves = between(went / falls - LIES, 0.0, 1.0);
    let of_had = smaller(length(balance.had) * MOST_LEFT_OUT, balance.mass * MOST_GIVEN);
    let of_moving = larger(went * MOST_LEFT_OUT, of_had) + balance.mass * LEAST_GIVEN;
    let most_given = of_moving * moves + falls * LYING_GIVEN;
    let most_turned = length(balance.went.angular) * MOST_LEFT_OUT * moves + most_given * balance.length;
    let share = smaller(most_given / larger(length(given.linear), MIN_POSITIVE), 1.0);
    let turn_share = smaller(most_turned / larger(length(given.angular), MIN_POSITIVE), share);
    let free = balance.free;
    return LeftOut(Momentum(given.linear * (share * free), given.angular * (turn_share * free)), moves);
}

fn tell_momentum(local: u32, entry: u32, momentum: Momentum) {
    tell3(local, entry, momentum.linear);
    tell3(local, entry + 3u, momentum.angular);
}

fn told_momentum(local: u32, entry: u32) -> Momentum {
    return Momentum(told3(local, entry), told3(local, entry + 3u));
}

// Tells the others how the chain's momentum came about: 28 numbers.
fn tell_balance(local: u32, balance: Balance) {
    tell(local, 0u, balance.mass);
    tell(local, 1u, balance.falls);
    tell(local, 2u, balance.length);
    tell3(local, 3u, balance.had);
    tell_momentum(local, 6u, balance.went);
    tell_momentum(local, 12u, balance.by_rows);
    tell_momentum(local, 18u, balance.by_motion);
    tell(local, 24u, balance.rough);
    tell(local, 25u, balance.held);
    tell(local, 26u, balance.second_order);
    tell(local, 27u, balance.free);
}

// How that of its tree did, about the same point.
fn balance_of_tree(chain: Chain, local: u32) -> Balance {
    var sum = Balance();
    sum.free = 1.0;
    var member = chain;
    let count = member_count(chain);
    for (var k = 0u; k < count; k++) {
        member = member_of_tree(chain, k, member);
        let at = local_of(chain, local, member);
        sum.mass = sum.mass + told[0][at];
        sum.falls = sum.falls + told[1][at];
        sum.length = larger(sum.length, told[2][at]);
        sum.had = sum.had + told3(at, 3u);
        sum.went = momentum_sum(sum.went, told_momentum(at, 6u));
        sum.by_rows = momentum_sum(sum.by_rows, told_momentum(at, 12u));
        sum.by_motion = momentum_sum(sum.by_motion, told_momentum(at, 18u));
        sum.rough = larger(sum.rough, told[24][at]);
        sum.held = larger(sum.held, told[25][at]);
        sum.second_order = larger(sum.second_order, told[26][at]);
        sum.free = smaller(sum.free, told[27][at]);
    }
    return sum;
}

// The motion of a tree, from the root's origin, that has what passes left out, given how its momentum came about, about that.
fn gain_of_tree(balance: Balance, body: Body) -> RigidMotion {
    var about_centre = balance;
    let arm = vec3<f32>() - body.centre;
    about_centre.went = momentum_shifted(balance.went, arm);
    about_centre.by_rows = momentum_shifted(balance.by_rows, arm);
    about_centre.by_motion = momentum_shifted(balance.by_motion, arm);
    let given = left_out(about_centre).momentum;
    let velocity = given.linear * where_less(0.0, body.mass, 1.0 / larger(body.mass, MIN_POSITIVE), 0.0);
    return RigidMotion(body.centre, velocity, spin_of(body.inertia, given.angular, SLENDER));
}
