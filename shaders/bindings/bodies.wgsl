// Chains as bodies: how much of each there is, how it moves, and that it keeps its momentum and angular momentum; the twin of
// src/cpu/bodies.rs, which says why.

// How much of a chain there is, and how it moves.
struct Body {
    mass: f32,
    // Centre of mass from the chain's origin (m).
    centre: vec3<f32>,
    // Its velocity (m/s).
    velocity: vec3<f32>,
    // Angular momentum about the centre (kg·m²/s).
    angular: vec3<f32>,
    // Inertia about the centre (kg·m²).
    inertia: Mat3,
}

fn body_of(chain: Chain) -> Body {
    var body = body_in_motion(chain, NODE_PLACE, NODE_FRAME, NODE_SCALE);
    body.inertia = inertia_about(chain, body.centre);
    return body;
}

// As body_of but for the inertia, by the entries that say where its nodes are, how they are turned and of what scale.
fn body_in_motion(chain: Chain, place_at: u32, frame_at: u32, scale_at: u32) -> Body {
    var body = Body();
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        let m = weight_of(rest_row_of(chain, index), REST_MASS);
        body.mass = body.mass + m;
        body.centre = body.centre + node3(row, place_at) * m;
        body.velocity = body.velocity + node3(row, NODE_VELOCITY) * m;
    }
    let inv_mass = 1.0 / where_less(0.0, body.mass, body.mass, 1.0);
    body.centre = body.centre * inv_mass;
    body.velocity = body.velocity * inv_mass;
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        let rest_row = rest_row_of(chain, index);
        let goes = (node3(row, NODE_VELOCITY) - body.velocity) * weight_of(rest_row, REST_MASS);
        let of_section = inertia_of_section(rest_row, row, frame_at, scale_at) * node3(row, NODE_SPIN);
        body.angular = body.angular + cross(node3(row, place_at) - body.centre, goes) + of_section;
    }
    return body;
}

// A chain's inertia about a point (kg·m²).
fn inertia_about(chain: Chain, centre_of_mass: vec3<f32>) -> Mat3 {
    var inertia: Mat3;
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        let rest_row = rest_row_of(chain, index);
        let own = inertia_of_section(rest_row, row, NODE_FRAME, NODE_SCALE);
        inertia = with_mass_at(inertia, weight_of(rest_row, REST_MASS), node3(row, NODE_PLACE) - centre_of_mass);
        inertia = Mat3(inertia[0] + own[0], inertia[1] + own[1], inertia[2] + own[2]);
    }
    return inertia;
}

// A section's inertia (kg·m²), by the entries that say how it is turned and of what scale.
fn inertia_of_section(rest_row: u32, row: u32, frame_at: u32, scale_at: u32) -> Sym3 {
    let scale = node_at(row, scale_at);
    let square = scale * scale;
    return sym_from_axes(
        axes_of(node4(row, frame_at)),
        weight_of(rest_row, REST_INERTIA_U) * square,
        weight_of(rest_row, REST_INERTIA_V) * square,
        weight_of(rest_row, REST_INERTIA_UV) * square,
        weight_of(rest_row, REST_INERTIA_W) * square,
    );
}

// An inertia (kg·m²) with that of a mass (kg) at an arm (m).
fn with_mass_at(inertia: Mat3, m: f32, arm: vec3<f32>) -> Mat3 {
    let around = m * dot(arm, arm);
    return Mat3(
        inertia[0] - m * arm.x * arm + vec3<f32>(around, 0.0, 0.0),
        inertia[1] - m * arm.y * arm + vec3<f32>(0.0, around, 0.0),
        inertia[2] - m * arm.z * arm + vec3<f32>(0.0, 0.0, around),
    );
}

// A motion as if it were rigid.
struct RigidMotion {
    centre: vec3<f32>,
    velocity: vec3<f32>,
    spin: vec3<f32>,
}

// Centre of mass, its velocity, and the spin that has the body's angular momentum.
fn rigid_motion(body: Body) -> RigidMotion {
    return RigidMotion(body.centre, body.velocity, spin_of(body.inertia, body.angular, SLENDER));
}

// Adds it to the chain's velocities, and such a share of its spin to its sections'.
fn add_motion(chain: Chain, motion: RigidMotion, of_sections: f32) {
    for (var index = 0u; index < chain.node_count; index++) {
        // Padding goes its own way.
        let there = where_less(0.0, rest_at(rest_row_of(chain, index), REST_RADIUS), 1.0, 0.0);
        let row = node_row_of(chain, index);
        let arm = node3(row, NODE_PLACE) - motion.centre;
        set_node3(row, NODE_VELOCITY, node3(row, NODE_VELOCITY) + (motion.velocity + cross(motion.spin, arm)) * there);
        set_node3(row, NODE_SPIN, node3(row, NODE_SPIN) + motion.spin * (there * of_sections));
    }
}

// The spin of a section in one frame that has the angular momentum that it has by a spin in another: of one that is not round, that of a
// round one.
fn carried_over(before: Quaternion, after: Quaternion, spin: vec3<f32>) -> vec3<f32> {
    let axis = axes_of(before)[2];
    let momentum = spin + axis * dot(axis, spin);
    let turned_axis = axes_of(after)[2];
    return momentum - turned_axis * (dot(turned_axis, momentum) * 0.5);
}

// How much momentum a chain has.
struct Momenta {
    // Momentum over mass: the velocity of its centre (m/s).
    velocity: vec3<f32>,
    // Angular momentum about that (kg·m²/s).
    angular: vec3<f32>,
}

// That of the chain at the substep's start, as it was predicted to go on.
fn momenta_before(chain: Chain) -> Momenta {
    let body = body_in_motion(chain, NODE_PREV_PLACE, NODE_PREDICTED_FRAME, NODE_PREV_SCALE);
    return Momenta(body.velocity, body.angular);
}

// The angular momentum that an inertia has by a spin.
fn with_spin(inertia: Mat3, spin: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot(inertia[0], spin), dot(inertia[1], spin), dot(inertia[2], spin));
}

// How much faster a node moves and its section spins than by a rigid motion.
struct Within {
    velocity: vec3<f32>,
    spin: vec3<f32>,
}

fn within_motion(rigid: RigidMotion, row: u32) -> Within {
    let velocity = rigid.velocity + cross(rigid.spin, node3(row, NODE_PLACE) - rigid.centre);
    return Within(node3(row, NODE_VELOCITY) - velocity, node3(row, NODE_SPIN) - rigid.spin);
}

// Slows what moves within a chain that was led astray by the energy that it costs to have it spin faster, or a share of that where there
// is not enough. That share.
fn pay_for(chain: Chain, body: Body, faster: vec3<f32>) -> f32 {
    let spin = spin_of(body.inertia, body.angular, SLENDEREST);
    let rigid = RigidMotion(body.centre, body.velocity, spin);
    // Twice the energies (J).
    let costs = dot(faster, with_spin(body.inertia, spin + spin + faster));
    var within = 0.0;
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        let rest_row = rest_row_of(chain, index);
        let own = within_motion(rigid, row);
        let of_section = inertia_of_section(rest_row, row, NODE_FRAME, NODE_SCALE) * own.spin;
        within = within + (dot(own.velocity, own.velocity) * weight_of(rest_row, REST_MASS) + dot(own.spin, of_section));
    }
    // Costs are convex in the share, and 0 of none: a share costs no more than that share of all.
    let share = where_less(within, costs, within / larger(costs, LEAST_DIVISOR), 1.0);
    let slowed = sqrt(between(1.0 - costs * share / larger(within, LEAST_DIVISOR), 0.0, 1.0));
    for (var index = 0u; index < chain.node_count; index++) {
        // Padding goes its own way.
        let there = where_less(0.0, rest_at(rest_row_of(chain, index), REST_RADIUS), 1.0, 0.0);
        let row = node_row_of(chain, index);
        let own = within_motion(rigid, row);
        set_node3(row, NODE_VELOCITY, node3(row, NODE_VELOCITY) - own.velocity * ((1.0 - slowed) * there));
        set_node3(row, NODE_SPIN, node3(row, NODE_SPIN) - own.spin * ((1.0 - slowed) * there));
    }
    return select(1.0, share, chain.node_count > 0u);
}

// Of a calm substep, the most that is given back over what the chain had.
const MOST_KEPT: f32 = 0.1;

// Gives a free chain that nothing presses the momentum and angular momentum that it had, as a rigid body. Of what went as it should,
// what has next to no inertia as one goes to its sections, as long as these spin slower than the whole would by all that it has.
fn keep_momenta(free: Chain, before: Momenta) {
    let had = before.angular;
    let rough = chain_at(free.chain, CHAIN_ROUGH);
    var pressed = larger(chain_at(free.chain, CHAIN_MEETS), second_order_of(free) * (1.0 - rough));
    let count = row_count_of(free);
    for (var slot = 0u; slot < count; slot++) {
        let at = row_of(free, slot);
        // With what force what may be reached presses is not known of a chain that was led astray.
        let reaches = contact_at(at, CONTACT_STIFFNESS) * rough;
        let force = larger(contact_at(at, CONTACT_DUAL), contact_at(at, CONTACT_BOUNCE));
        pressed = where_less(0.0, larger(force, reaches), 1.0, pressed);
    }
    // None by its count, not by a branch, as in predict.
    var chain = free;
    chain.node_count = select(0u, free.node_count, pressed < 0.5);
    let body = body_of(chain);
    let velocity = before.velocity - body.velocity;
    let all_missing = had - body.angular;
    // Over the inertia, so that lengths of chains of any size are numbers.
    let inertia = body.inertia;
    let trace = inertia[0].x + inertia[1].y + inertia[2].z;
    let per_inertia = 1.0 / where_less(0.0, trace, trace, 1.0);
    let most = larger(length(had * per_inertia) * MOST_KEPT, LEAST_DIVISOR);
    let share = most / larger(length(all_missing * per_inertia), most);
    var left = all_missing * where_less(0.5, rough, 1.0, share);
    let slender = where_less(0.5, rough, SLENDER, SLENDER_KEPT);
    var spin = vec3<f32>();
    for (var again = 0u; again < 3u; again++) {
        let more = spin_of(inertia, left, slender);
        spin = spin + more;
        left = left - with_spin(inertia, more);
    }
    var astray = chain;
    astray.node_count = select(0u, chain.node_count, rough > 0.5);
    let paid = pay_for(astray, body, spin);
    add_motion(chain, RigidMotion(body.centre, velocity, spin * paid), 1.0);

    var of_sections: Mat3;
    var spins = vec3<f32>();
    var weight = 0.0;
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        let rest_row = rest_row_of(chain, index);
        let own = inertia_of_section(rest_row, row, NODE_FRAME, NODE_SCALE);
        let polar = weight_of(rest_row, REST_INERTIA_W);
        of_sections = Mat3(of_sections[0] + own[0], of_sections[1] + own[1], of_sections[2] + own[2]);
        spins = spins + node3(row, NODE_SPIN) * polar;
        weight = weight + polar;
    }
    let rolls = spin_of(of_sections, left * (1.0 - rough), SLENDER);
    // By how much the whole would spin faster by all that it has than they do in the mean.
    let mean = spins * (1.0 / where_less(0.0, weight, weight, 1.0));
    let behind = spin_of(inertia, had - with_spin(inertia, mean), SLENDEREST);
    let rolls_by = between(dot(behind, rolls) / larger(dot(rolls, rolls), LEAST_DIVISOR), 0.0, 1.0);
    for (var index = 0u; index < chain.node_count; index++) {
        let there = where_less(0.0, rest_at(rest_row_of(chain, index), REST_RADIUS), rolls_by, 0.0);
        let row = node_row_of(chain, index);
        set_node3(row, NODE_SPIN, node3(row, NODE_SPIN) + rolls * there);
    }
}
