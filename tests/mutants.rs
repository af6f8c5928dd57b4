//! Kernels with one token changed are not what their twins are: the comparison of raw rows, stage by stage, sees each.
#![cfg(feature = "gpu")]

mod common;

use common::mutation::{changed, choose, switched};
use common::parity::{Scene, apart, both, scenes};
use glam::DVec3;
use sinew::gpu::KERNELS;
use sinew::step::{Stage, Walk};
use sinew::{FleshHandle, Physics};

/// A stage, the scene that sees it, a line of the stage's source with `⟨what⟩` marked, and what becomes of that.
type Mutant = (Stage, &'static str, &'static str, &'static str);

const BONES: &[Mutant] = &[
    (Stage::MoveBones, "cantilevers", "var shift = origin ⟨-⟩ chain3(chain.chain, CHAIN_ORIGIN);", "+"),
    (Stage::MoveBones, "moving bones", "bone.place = now.place ⟨+⟩ rotate(now.frame, linked.place);", "-"),
    (Stage::MoveBones, "cantilevers", "return Carried(first.place + (second.place ⟨-⟩ first.place) * alpha", "+"),
    (Stage::MoveBones, "tied in their beds", "let let_in = smaller(longer, 0.0) * (1.0 ⟨+⟩ TRACE);", "-"),
    (Stage::MoveBones, "tied in their beds", "let taut = ⟨larger⟩(longer, 0.0);", "smaller"),
    (Stage::MoveBones, "tied in their beds", "/ larger(slope.⟨z⟩, LEAST_LENGTH));", "x"),
    (Stage::MoveBones, "tied in their beds", "let darboux = half_turn * (⟨4.0⟩ * inv_length);", "2.0"),
    (Stage::MoveBones, "goes on", "if teleports < ⟨1.0⟩ {", "0.5"),
    (Stage::MoveBones, "goes along", "params.group_count + params.carried_count ⟨*⟩ params.first_substep;", "-"),
    (Stage::MoveBones, "goes on", "set_node3(row, NODE_VELOCITY, (bone_to.place ⟨-⟩ new_pose.place)", "+"),
];

const PREDICTION: &[Mutant] = &[
    (
        Stage::Predict,
        "second order",
        "older_frame = turned(frame, ⟨-node3(row, NODE_OLDER_TURN)⟩);",
        "node3(row, NODE_OLDER_TURN)",
    ),
    (Stage::Predict, "second order", "let carried = second_order * (1.0 / ⟨3.0⟩);", "4.0"),
    (Stage::Predict, "cantilevers", "velocity * step + fall * (step ⟨*⟩ step);", "+"),
    (
        Stage::Predict,
        "cantilevers",
        "let keep = 1.0 / (1.0 + step * rest_at(rest_row, ⟨REST_DAMPING⟩));",
        "REST_RADIUS",
    ),
    (Stage::Predict, "moving bones", "NODE_TARGET_FRAME, ⟨⟩beside(node4(row, NODE_TARGET_FRAME), frame)", "-"),
    (Stage::Predict, "moving bones", "jump = now.displacement ⟨-⟩ older.displacement * ratio;", "+"),
    (Stage::Predict, "free rods", "reference = motion.velocity + cross(motion.spin, place ⟨-⟩ motion.centre);", "+"),
    (Stage::Predict, "cantilevers", "held.moved = node3(row, NODE_TARGET_PLACE) ⟨-⟩ start;", "+"),
    (Stage::Predict, "active", "where_less(0.0, whole_weight, sum ⟨/⟩ whole_weight, 1.0)", "*"),
];

const PUSHES: &[Mutant] = &[
    (Stage::Predict, "pushed", "return params.gravity ⟨+⟩ input3(chain.input, INPUT_ACCELERATION);", "-"),
    (Stage::Predict, "pushed", "force_on(chain, index, ⟨FORCE_ACCELERATION⟩);", "FORCE_VELOCITY"),
    (Stage::Predict, "pushed", "kicked = kicked ⟨+⟩ force_on(chain, index, FORCE_VELOCITY);", "-"),
    (Stage::Predict, "pushed", "smaller(chain_at(chain.chain, CHAIN_HISTORY), ⟨0.0⟩)", "1.0"),
    (Stage::Predict, "thrown", "kicked = kicked ⟨*⟩ kept", "+"),
    (Stage::Predict, "thrown", "carried_over(⟨frame⟩, predicted_frame, spin)", "predicted_frame"),
    (Stage::Predict, "thrown", "let momentum = spin ⟨+⟩ axis * dot(axis, spin);", "-"),
    (Stage::Predict, "thrown", "at_origin ⟨+⟩ cross(kick_spin", "-"),
    (Stage::UpdateVelocities, "thrown", "carried_over(⟨predicted⟩, frame, pushed)", "frame"),
    (Stage::UpdateVelocities, "thrown", "had ⟨-⟩ body.angular;", "+"),
    (Stage::UpdateVelocities, "thrown", "before.velocity ⟨-⟩ body.velocity;", "+"),
    (Stage::UpdateVelocities, "free rods", "left = left ⟨-⟩ with_spin(inertia, more);", "+"),
    (Stage::UpdateVelocities, "struck", "node3(row, NODE_VELOCITY) ⟨-⟩ own.velocity * ((1.0 - slowed)", "+"),
    (Stage::UpdateVelocities, "struck", "node3(row, NODE_SPIN) ⟨-⟩ own.spin * ((1.0 - slowed)", "+"),
    (Stage::UpdateVelocities, "struck", "RigidMotion(body.centre, ⟨velocity⟩, spin * paid)", "spin"),
    (Stage::UpdateVelocities, "struck", "let is_free = thread < params.lone_count ⟨*⟩ LANES", "/"),
    (Stage::UpdateVelocities, "struck", "chain.node_count, rough ⟨>⟩ 0.5);", "<"),
    (Stage::UpdateVelocities, "struck", "1.0 - costs ⟨*⟩ share / larger(within", "+"),
    (Stage::UpdateVelocities, "struck", "where_less(⟨within⟩, costs, within / larger(costs", "0.0"),
    (
        Stage::UpdateVelocities,
        "thrown together",
        "larger(⟨chain_at(free.chain, CHAIN_MEETS)⟩, second_order_of(free)",
        "0.0",
    ),
    (Stage::UpdateVelocities, "on a table", "larger(force, reaches), ⟨1.0⟩, pressed);", "0.0"),
];

const SOLVES: &[Mutant] = &[
    (Stage::SolveRods, "moving bones", "let turning = prev_scale ⟨*⟩ prev_scale * inv_step2;", "+"),
    (Stage::SolveRods, "moving bones", "(*rhs)[4u + i] = (*rhs)[4u + i] ⟨-⟩ torque[i];", "+"),
    (
        Stage::SolveRods,
        "moving bones",
        "vec2<f32>(s3 * omega.x - reference.darboux.x, (*row)[⟨REST_VOLUME_BEND_U⟩])",
        "REST_BEND_U",
    ),
    (
        Stage::SolveRods,
        "cantilevers",
        "let turn = product(node4(row, NODE_FRAME), ⟨conjugate⟩(predicted));",
        "normalised",
    ),
    (Stage::SolveRods, "muscles", "let slow = larger(v, ⟨-1.0⟩);", "0.0"),
    (Stage::SolveRods, "torn off", "|| larger(larger(short, (*descent).far), ⟨amiss⟩) < 0.5 {", "0.0"),
];

const CONTACTS_AND_VELOCITIES: &[Mutant] = &[
    (Stage::SolveContacts, "rods on a slope", "return dot(plane.normal, point) ⟨-⟩ plane.offset;", "+"),
    (
        Stage::SolveContacts,
        "carried into a plane",
        "let limit = smaller(there.friction ⟨*⟩ (where_less(0.0, lasting,",
        "+",
    ),
    (
        Stage::SolveContacts,
        "carried into a plane",
        "let carried = ⟨smaller⟩(distance_from(there.later, point.carried)",
        "larger",
    ),
    (Stage::SolveContacts, "rods on a slope", "surface.goes ⟨+⟩ cross(surface.turns, point);", "-"),
    (Stage::SolveContacts, "rods on a slope", "let kept = smaller(was ⟨+⟩ larger(borne", "-"),
    (Stage::SolveContacts, "rods on a slope", "return contact_row_of(chain, index * chain.plane_count ⟨+⟩ k);", "*"),
    (Stage::SolveContacts, "thrown on a floor", "let most = larger(STIFFEST, rate ⟨*⟩ rate);", "+"),
    (Stage::SolveContacts, "about to slip", "larger(stuck, amply)), larger(stops, ⟨stuck⟩));", "0.0"),
    (
        Stage::SolveContacts,
        "meeting on the ground",
        "⟨smaller⟩(stops, larger(stuck, amply)), larger(stops, stuck));",
        "larger",
    ),
    (Stage::SolveContacts, "meeting on the ground", "where_less(takes ⟨*⟩ AMPLE, limit, 1.0, 0.0);", "/"),
    (Stage::SolveContacts, "carried into a plane", "slide ⟨+⟩ tangent * goes_on, is_first);", "-"),
    (Stage::SolveContacts, "rods on a slope", "across(sweep(there, start ⟨-⟩ normal * prev_radius), normal);", "+"),
    (Stage::SolveContacts, "bouncing", "larger(restitution ⟨*⟩ came + comes, 0.0)", "+"),
    (Stage::SolveContacts, "bouncing", "let slowed = before.w ⟨-⟩ comes", "+"),
    (Stage::SolveContacts, "bouncing", "impulse ⟨/⟩ larger(slowed", "*"),
    (Stage::SolveContacts, "bouncing", "comes ⟨+⟩ falls * after", "-"),
    (Stage::SolveContacts, "bouncing", "where_less(0.0, lasting, lasting, 0.0) ⟨+⟩ bounce", "-"),
    (Stage::SolveContacts, "bouncing", "node3(row, NODE_PREDICTED_MOVE) ⟨+⟩ gained * step", "-"),
    (Stage::SolveContacts, "bouncing", "node3(row, NODE_VELOCITY) ⟨+⟩ gained", "-"),
    (Stage::SolveContacts, "bouncing", "plane_at(row, ⟨PLANE_RESTITUTION⟩)", "PLANE_FRICTION"),
    (Stage::SolveContacts, "bouncing off a table", "contact_at(plane, ⟨PLANE_RESTITUTION⟩)", "PLANE_FRICTION"),
    (Stage::SolveRods, "bouncing", "where_less(distance, 0.0, 1.0, 0.0) ⟨+⟩ stays", "-"),
    (
        Stage::UpdateVelocities,
        "bouncing",
        "contact_at(at, CONTACT_DUAL) ⟨+⟩ larger(contact_at(at, CONTACT_BOUNCE)",
        "-",
    ),
    (Stage::SolveRods, "about to slip", "return across(swept(row, gone.place, gone.turn) ⟨-⟩ row.anchor", "+"),
    (Stage::SolveRods, "about to slip", "if !again.solved && row.sticks ⟨>⟩ 0.5 {", "<"),
    (Stage::SolveRods, "on a floor that turns", "again.solved && ⟨⟩again.overshot), way);", "!"),
    (Stage::SolveRods, "on a floor that turns", "(*descent).overshot || (*descent).share ⟨<⟩ 1.0;", ">"),
    (Stage::SolveRods, "meeting with one step more", "(*descent).overshot = raised ⟨>⟩ 0.5;", "<"),
    (Stage::SolveRods, "meeting with one step more", "descent.meets > 0.5 && ⟨⟩!descent.adrift);", "!"),
    (Stage::SolveRods, "trees thrown together", "let after = pressing_on(step.touches, solved, ⟨from_here⟩,", "before"),
    (
        Stage::SolveRods,
        "trees thrown together",
        "where_less(0.0, share, start ⟨+⟩ (to - start) * share, start), to)",
        "-",
    ),
    (Stage::SolveRods, "slipping", "(friction.slipping ⟨*⟩ dot(friction.way, goes));", "+"),
    (Stage::SolveRods, "rods on a slope", "let arm = row.direction ⟨*⟩ row.arm;", "+"),
    (
        Stage::SolveRods,
        "carried into a plane",
        "(stiffness - friction.stiffness) * d[i] * d[k] ⟨-⟩ way[i] * unit[k];",
        "+",
    ),
    (Stage::SolveRods, "rods on a slope", "(*rhs)[4u + i] = (*rhs)[4u + i] ⟨-⟩ first * couple[i];", "+"),
    (Stage::SolveRods, "on a floor that turns", "return ⟨pressed.amiss⟩;", "0.0"),
    (
        Stage::SolveRods,
        "stiffer than resolved",
        "left[i] = left[i] - own * (*delta)[k] ⟨-⟩ coupling * (*next)[k];",
        "+",
    ),
    (Stage::SolveRods, "rods on a slope", "let left = was_in_the_way ⟨-⟩ (dot(row.direction,", "+"),
    (Stage::SolveRods, "rods on a slope", "both[3][i] = -(stiffness ⟨*⟩ sigma * d[i]);", "+"),
    (Stage::UpdateVelocities, "cantilevers", "held_back(was, was + solved * ⟨of_move⟩, flag);", "of_older"),
    (Stage::UpdateVelocities, "flung by a bone", "let most = length(was) ⟨+⟩ MOST_GAIN;", "-"),
    (Stage::UpdateVelocities, "flung by a bone", "let kept = most / larger(⟨length(velocity)⟩, most);", "0.0"),
    (
        Stage::UpdateVelocities,
        "flung by a bone",
        "let astray = ⟨smaller⟩(chain_at(chain.chain, CHAIN_MEETS), rough);",
        "larger",
    ),
    (
        Stage::UpdateVelocities,
        "flung by a bone",
        "smaller(astray, ⟨rest_at(rest_row_of(chain, index), REST_FREE_PLACE)⟩)",
        "1.0",
    ),
    (Stage::UpdateVelocities, "second order", "let foreseen = node3(row, ⟨NODE_SPIN⟩);", "NODE_OLDER_SPIN"),
    (Stage::UpdateVelocities, "second order", "let half_history = second_order_of(chain) * ⟨0.5⟩;", "0.25"),
    (Stage::UpdateVelocities, "carried into a plane", "where_less(rough, 0.5, history, -ROUGH ⟨*⟩ params.inv_h)", "+"),
];

const SOLIDS: &[Mutant] = &[
    (Stage::SolveContacts, "on a table", "let beyond = (spot.far * side ⟨-⟩ half) + spot.near * side;", "+"),
    (Stage::SolveContacts, "on a table", "let point = (spot.far ⟨-⟩ first) + spot.near;", "+"),
    (Stage::SolveContacts, "on a table", "share = smaller(deeper ⟨/⟩ (DEEPER * radius), 1.0);", "*"),
    (Stage::SolveContacts, "pushed by solids", "dot(normal_to, point) ⟨+⟩ dot(normal_to, goes)", "-"),
    (Stage::SolveContacts, "pushed by solids", "moving.goes ⟨+⟩ cross(moving.turns, from_axis)", "-"),
    (Stage::SolveContacts, "on a table", "if all((*before)[k].touched ⟨==⟩ of_solid) {", "!="),
    (Stage::SolveContacts, "on cylinders and cones", "vec2<f32>(0.0 - radius, ⟨2.0⟩ * half_height);", "1.0"),
    (Stage::SolveContacts, "on cylinders and cones", "let beyond_side = radial.w ⟨-⟩ radius;", "+"),
    (Stage::SolveContacts, "on cylinders and cones", "both = ⟨sqrt⟩(own * other);", "abs"),
    (Stage::SolveContacts, "carried into solids", "point.obeyed_radius ⟨-⟩ point.yields * there.dents;", "+"),
    (Stage::SolveContacts, "over their bones", "let allowed = carried * other ⟨+⟩ there.allowed;", "-"),
    (Stage::SolveContacts, "over their bones", "(along - (*it).pressed) ⟨*⟩ FOLLOWS", "+"),
    (Stage::SolveContacts, "over their bones", "let name = ⟨-2.0⟩ - f32(own);", "-1.0"),
    (Stage::SolveContacts, "on triangles", "let above = dot(face, (spot.far ⟨-⟩ corners[0]) + spot.near);", "+"),
];

const HEALTH_AND_SKIN: &[Mutant] = &[
    (Stage::CheckHealth, "pressed flat", "larger(thinned_within(extent, stretch), ⟨pressed⟩));", "0.0"),
    (Stage::CheckHealth, "cantilevers", "is_number(unit) && ⟨0.5⟩ < unit);", "2.0"),
    (Stage::CheckHealth, "cantilevers", "chain_at(chain.chain, CHAIN_RESETS) + ⟨1.0⟩);", "2.0"),
    (Stage::CheckHealth, "cantilevers", "var velocity = (bone_to.place ⟨-⟩ bone_from.place) * inv_frame;", "+"),
    (Stage::ReportHealth, "cantilevers", "resets = resets ⟨+⟩ chain_rows", "*"),
    (Stage::ReportHealth, "cantilevers", "CHAIN_ENTRIES, ⟨CHAIN_RESETS⟩, lane", "CHAIN_UNWELL"),
    (Stage::PoseSections, "skin", "let stays = 1.0 ⟨-⟩ scale;", "+"),
    (Stage::PoseSections, "skin", "let moved = place ⟨-⟩ by_bones;", "+"),
    (Stage::PoseSections, "skin", "return reach / sqrt(reach ⟨*⟩ reach + dot(moved, moved));", "+"),
    (Stage::PoseSections, "skin", "let tangent = axes_of(section.frame)[⟨2⟩];", "1"),
    (Stage::DeformSkin, "skin", "let cy = cross(z.xyz, ⟨x⟩.xyz);", "y"),
    (Stage::DeformSkin, "skin", "(skin_vertices[at].joints[k / 2u] >> (⟨16u⟩ * (k % 2u))", "8u"),
    (Stage::DeformSkin, "skin", "let rest = vec4<f32>(at_rest.place, ⟨1.0⟩);", "0.0"),
    (Stage::DeformSkin, "skin", "normal = unit(normal ⟨+⟩ turn, normal);", "-"),
    (Stage::DeformSkin, "dual skin", "let offset = (d.xyz * q.w ⟨-⟩ q.xyz * d.w + cross(q.xyz, d.xyz)) * 2.0;", "+"),
    (Stage::DeformSkin, "dual skin", "let row = 3u * block.palette_base + ⟨4u⟩ * joint;", "3u"),
    (Stage::DeformSkin, "skin", "tangent = tangent ⟨+⟩ along;", "-"),
    (Stage::DeformSkin, "skin", "let bitangent_side = skin_vertices[at].tangent.w ⟨*⟩ side;", "+"),
    (Stage::DeformSkin, "moved skin", "let position = skin_vertices[at].position ⟨+⟩ delta.place;", "-"),
    (Stage::DeformSkin, "moved skin", "let normal = unit(given.normal ⟨+⟩ delta3(first + 3u), given.normal);", "-"),
    (Stage::DeformSkin, "moved skin", "let mesh_tangent = skin_vertices[at].tangent.xyz ⟨+⟩ delta.tangent;", "-"),
    (Stage::DeformSkin, "moved skin", "let tangent = given.tangent ⟨+⟩ vec3<f32>(", "-"),
    (Stage::DeformSkin, "moved skin", "let place = given.place ⟨+⟩ vec3<f32>(", "-"),
    (Stage::DeformSkin, "moved skin", "let first = block.linear_base + ⟨9u⟩ * local;", "3u"),
    (Stage::MorphSkin, "moved skin", "pull.normal[2]) ⟨*⟩ by;", "+"),
    (Stage::MorphSkin, "moved skin", "morph_weights[block.weight_base + ⟨pull.morph⟩];", "0u"),
    (Stage::MorphSkin, "moved skin", "skin_deltas[first + ⟨6u⟩ + k] = tangent[k];", "3u"),
];

const TREES: &[Mutant] = &[
    (Stage::Predict, "trees", "let arm = outward * placed.scale ⟨+⟩ rotate(rotation,", "-"),
    (Stage::Predict, "trees", "set_node3(row, NODE_TARGET_PLACE, start ⟨+⟩ joint.moved);", "-"),
    (Stage::Predict, "trees", "let around = with_mass_at(sum.inertia, m, ⟨arm⟩);", "sum.centre"),
    (Stage::Predict, "trees", "return RigidMotion(motion.centre ⟨-⟩ shift,", "+"),
    (Stage::Settle, "trees meeting", "if works && depth > ⟨0u⟩ {", "1u"),
    (Stage::Settle, "trees meeting", "given[i] = given[i] ⟨-⟩ scratch_at(scratch_row, SCRATCH_STEP", "+"),
    (Stage::Settle, "trees thrown together", "let arm = vec3<f32>() ⟨-⟩ body.centre;", "+"),
    (Stage::Settle, "trees thrown together", "balance_of(own, root_origin(own) ⟨-⟩ chain3(", "+"),
    (Stage::Settle, "trees thrown together", "told_momentum(at, ⟨18u⟩)", "12u"),
    (Stage::Settle, "trees meeting on the ground", "sum.held = ⟨larger⟩(sum.held", "smaller"),
    (Stage::CheckHealth, "trees", "let to = place ⟨+⟩ rotate(turn, node3(row, NODE_PLACE)", "-"),
    (Stage::CheckHealth, "trees", "let lost = chain.node_count > 0u && most_of_tree(chain, local, 0u) ⟨>⟩ 0.5;", "<"),
];

/// Apart from [`TREES`], so that tests take a minute at most.
const SOLVES_OF_TREES: &[Mutant] = &[
    (Stage::SolveRods, "trees meeting on the ground", "sqrt(dot(off, off)), ⟨1.0⟩, 0.0), pressed.amiss);", "0.0"),
    (Stage::SolveRods, "trees", "let turns = couple ⟨+⟩ cross(turning.arm, force);", "-"),
    (Stage::SolveRods, "trees", "columns[4][i] = columns[4][i] ⟨+⟩ (c * y - b * z);", "-"),
    (Stage::SolveRods, "trees", "let left = (*rhs)[i + i / 3u] ⟨-⟩ scratch_at(row, STUMP_COUPLING", "+"),
    (Stage::SolveRods, "trees", "(*delta)[3] = (*delta)[3] ⟨-⟩ scratch_at(row, STUMP_COUPLING + i) * given[i];", "+"),
    (Stage::SolveRods, "trees", "return Joint(placed.moved ⟨+⟩ ((apart + shift) + arm),", "-"),
];

#[cfg(feature = "neural")]
const NETWORKS: &[Mutant] = &[
    (Stage::InferCorrectives, "moved skin", "(network_inputs[input_base + input] ⟨-⟩ mean)", "+"),
    (Stage::InferCorrectives, "moved skin", "network_units[first + unit] = ⟨larger⟩(", "smaller"),
    (
        Stage::InferCorrectives,
        "moved skin",
        "network_units[coefficients + NETWORK_GROUP * k] = bounded ⟨*⟩ between",
        "+",
    ),
    (Stage::InferCorrectives, "moved skin", "coefficients = coefficients + NETWORK_GROUP ⟨*⟩ passive.components;", "+"),
    (
        Stage::InferCorrectives,
        "moved skin",
        "let packed = place.basis_base + (3u * first + part ⟨*⟩ rows) * row_words;",
        "+",
    ),
    (Stage::InferCorrectives, "moved skin", "given ⟨*⟩ number(head + 1u)", "+"),
    (Stage::InferCorrectives, "moved skin", "let place = index ⟨/⟩ words;", "*"),
    (Stage::InferCorrectives, "moved skin", "sums[k] ⟨*⟩ network_runs[run].weight;", "+"),
];
#[cfg(not(feature = "neural"))]
const NETWORKS: &[Mutant] = &[];

const PAIRS_AND_MEETINGS: &[Mutant] = &[
    (Stage::SolveRods, "meeting on the ground", "select((*descent).amiss, (*descent).amiss ⟨-⟩ 1.0", "+"),
    (Stage::Settle, "meeting", "if least * least ⟨<⟩ off {", ">"),
    (Stage::FindMeetings, "meeting on the ground", "let stops = rubs * larger(force, hits) ⟨*⟩ MEETING;", "/"),
    (
        Stage::FindMeetings,
        "meeting on the ground",
        "let holding = where_less(0.0, held_before, smaller(rubbing, held_before), ⟨slipping⟩);",
        "rubbing",
    ),
    (Stage::FindMeetings, "meeting on the ground", "larger(gives_way, rubbing ⟨*⟩ GIVES_WAY));", "+"),
    (Stage::SolveRods, "meeting on the ground", "(*rows).meets = ⟨true⟩;", "false"),
    (Stage::SolveRods, "rods on a slope", "rows.next = ⟨0u⟩;", "1u"),
    (Stage::Settle, "meeting", "motion.spin * (there ⟨*⟩ of_sections)", "+"),
    (Stage::Settle, "meeting", "SLENDER + missing.moves ⟨*⟩ (SLENDEREST - SLENDER)", "-"),
    (Stage::GatherSegments, "meeting", "segment.centre = segment.first ⟨+⟩ along * 0.5;", "-"),
    (Stage::FindPairs, "meeting", "let pair = first_pair ⟨+⟩ k;", "*"),
    (
        Stage::SortSides,
        "meeting",
        "let first = chain.nodes / (NODE_ENTRIES * LANES) * LANES ⟨+⟩ lane * chain.node_count;",
        "-",
    ),
    (Stage::FindMeetings, "meeting", "let shift = origin_of(second_side) ⟨-⟩ origin_of(first_side);", "+"),
    (Stage::FindMeetings, "meeting", "going.moved = known3(node3(row, NODE_OLDER_VELOCITY) ⟨*⟩ params.h);", "+"),
    (Stage::FindMeetings, "meeting", "let kept_by = belongs(a, along.x, normal, centres) ⟨*⟩ belongs(", "+"),
    (Stage::FindMeetings, "meeting", "let own = point.flat ⟨+⟩ (1.0 - point.flat) * kept_by;", "-"),
    (Stage::FindMeetings, "meeting", "let begins = 1.0 ⟨-⟩ smaller(before, keeps(", "+"),
    (Stage::FindMeetings, "meeting", "let at_joint = side.joined.x ⟨+⟩ (side.joined.y", "-"),
    (Stage::FindMeetings, "meeting", "let direction = ⟨-⟩square(b, along.y, -squared);", ""),
    (Stage::SolveRods, "meeting on the ground", "let held = where_less(distance, 0.0, 1.0, 0.0) + ⟨stays⟩;", "0.0"),
    (Stage::FindMeetings, "meeting", "let deep = where_less(radius * ⟨-DEEP⟩, gap, 1.0,", "DEEP"),
    (Stage::FindMeetings, "thrown together", "comes / larger(radius ⟨*⟩ PAIR_STOPS, MIN_POSITIVE);", "+"),
    (Stage::FindMeetings, "meeting", "array<vec3<f32>, 2>(swept_a - off, swept_b ⟨+⟩ off)", "-"),
    (Stage::FindMeetings, "thrown together", "(both ⟨-⟩ turn) * 0.5)", "+"),
    (Stage::FindMeetings, "thrown together", "normal * (arms.y ⟨+⟩ point.nearest.gap * 0.5)", "-"),
    (Stage::FindMeetings, "thrown together", "⟨normal⟩ * -(arms.x + point.nearest.gap * 0.5)", "direction"),
    (Stage::FindMeetings, "meeting", "(PRESSING | rows) & ~((3u ⟨^⟩ pressing) << shift)", "|"),
    (Stage::FindMeetings, "meeting", "second_side, 1u, -1.0, next ⟨+⟩ 1u);", "*"),
    (Stage::FindMeetings, "meeting", "side.second.inv_mass), ⟨0.0⟩, of_free));", "1.0e3"),
    (Stage::SolveRods, "meeting with one step more", "(*descent).meets > 0.5 && little ⟨<⟩ (*descent).fall;", ">"),
    (Stage::Press, "meeting", "solved_word(params.meet_base * LANES + contact_row⟨⟩, params", " + 1u"),
    (Stage::FindMeetings, "meeting", "set_contact(at, CONTACT_ROLLING, 2.0 ⟨*⟩ ROLLING", "+"),
    (Stage::Press, "meeting", "let closed = meet_at(row, MEET_GAP) ⟨+⟩ dot(direction, going_a", "-"),
    (Stage::Press, "meeting", "let pull = limited(pulling, meet_at(row, MEET_RUBS) ⟨*⟩ force);", "+"),
    (Stage::FindMeetings, "thrown together", "bitcast<f32>(second.x), ⟨max(first.y, second.y)⟩);", "0u"),
    (Stage::FindMeetings, "meeting", "vec2<u32>(bitcast<u32>(⟨RUBS⟩), RUBS_BY)", "0.0"),
    (Stage::FindMeetings, "thrown together", "vec2<u32>(bitcast<u32>(RUBS), ⟨RUBS_BY⟩)", "5u"),
    (Stage::FindMeetings, "meeting", "both = sqrt(own ⟨*⟩ other);", "+"),
    (Stage::Press, "meeting", "want(b.place * 2u + point, force, ⟨-⟩pull, -couple);", ""),
    (Stage::Press, "meeting", "let couple = limited(turning, ROLLS * force ⟨*⟩ radius);", "/"),
    (Stage::Settle, "meeting", "select(0.0, GOES_ON, params.settling ⟨>⟩ 0u", "<"),
    (Stage::Settle, "meeting", "more = Presses(wanted.force ⟨-⟩ has.force, ", "+"),
    (Stage::Settle, "meeting", "gradient[i] = 0.0 ⟨-⟩ own[i];", "+"),
    (Stage::Settle, "meeting", "add_push(beyond, both, swells, couple, ⟨row.along⟩);", "1.0"),
    (Stage::Settle, "meeting", "let force = scratch_at(solved, SOLVED_FORCE) ⟨-⟩ scratch_at(solved, SOLVED_ST", "+"),
    (Stage::Settle, "meeting on the ground", "momentum_difference(⟨wanted, has⟩)", "has, wanted"),
    (Stage::Settle, "meeting on the ground", "wanted = Presses(⟨larger⟩(has.force, 0.0)", "smaller"),
    (Stage::Settle, "thrown together", "row.along ⟨+⟩ contact3(meets.at, CONTACT_MIDDLE)", "-"),
    (Stage::Settle, "thrown together", "return Momentum(force, cross(point, force) ⟨+⟩ couple);", "-"),
    (Stage::Settle, "thrown together", "momentum_times(pressed, step), ⟨balance.went⟩", "missing"),
    (Stage::Settle, "thrown together", "larger(balance.rough, ⟨unheld⟩ *", "0.0"),
    (Stage::Settle, "meeting on the ground", "unheld * (1.0 ⟨-⟩ balance.second_order)", "+"),
    (Stage::Settle, "flung by a bone", "balance.mass * ⟨MOST_GIVEN⟩);", "0.0"),
    (Stage::FindMeetings, "flung by a bone", "1.0 - ⟨SOFTENS⟩ * params.h", "STIFFENS"),
    (Stage::Settle, "thrown together", "given = momentum_times(balance.by_motion, ⟨unheld⟩);", "0.0"),
    (Stage::SolveRods, "meeting on the ground", "if row.meets ⟨&&⟩ first {", "||"),
    (Stage::SolveRods, "meeting", "return Friction(secant, row.friction, ⟨0.0⟩, way);", "row.friction"),
    (Stage::SolveRods, "meeting", "return select(secant, ⟨row.rolling⟩, row.meets);", "secant"),
    (
        Stage::SolveRods,
        "trees thrown together",
        "params.passes > 0u && (⟨⟩descent.adrift || descent.share <= 0.0)",
        "!",
    ),
    (
        Stage::SolveRods,
        "on a floor that turns",
        "pressed_after(further_step_of(chain, rows), again)⟨.amiss⟩);",
        ".amiss * 0.0",
    ),
    (
        Stage::FindMeetings,
        "meeting what is heavier",
        "return body_mass_of(pairs[2u + pair * 2u].x) ⟨/⟩ body_mass_of",
        "*",
    ),
    (
        Stage::FindMeetings,
        "meeting what is heavier",
        "rest_base, REST_ENTRIES, ⟨REST_BODY_MASS⟩, chain % LANES",
        "REST_LENGTH",
    ),
    (Stage::FindMeetings, "meeting what is heavier", "1.0 / larger(⟨larger(heavier, there)⟩, MIN", "heavier"),
    (Stage::FindMeetings, "meeting what is heavier", "1.0 / larger(⟨larger(heavier, there)⟩, MIN", "there"),
    (Stage::FindMeetings, "meeting what is heavier", "let there = inv_masses.y ⟨/⟩ larger(inv_masses.x", "*"),
    (Stage::FindMeetings, "meeting what is heavier", "recovers ⟨/⟩ sqrt(sqrt(firmer))", "*"),
    (Stage::FindMeetings, "meeting what is heavier", "sqrt(⟨sqrt(firmer)⟩)", "firmer"),
    (Stage::FindMeetings, "thrown together", "larger(smaller(ratio, most), ⟨fast⟩), unequal)", "1.0"),
    (Stage::FindMeetings, "carried into each other", "let gap = point.nearest.gap ⟨+⟩ let_in_at(", "-"),
    (Stage::FindMeetings, "carried into each other", "let less = (radius * LET_IN ⟨-⟩ depth)", "+"),
    (
        Stage::FindMeetings,
        "on their way out",
        "return LetIn(put, depth - smaller(depth, ⟨larger(less, 0.0)⟩), nearest",
        "0.0",
    ),
    (Stage::FindMeetings, "carried into each other", "return let_in.in_depth ⟨+⟩ between(past, 0.0, 2.0)", "-"),
    (
        Stage::FindMeetings,
        "carried into each other",
        "let past = dot(direction, let_in.direction) * (1.0 / ⟨PAST⟩);",
        "-PAST",
    ),
    (Stage::FindMeetings, "on their way out", "between(larger(larger(⟨smaller(ratio, most)⟩, fast)", "ratio"),
    (Stage::FindMeetings, "on their way out", "let recovery = (APART + (CARRIED_APART - APART) * ⟨let_in.put⟩)", "0.0"),
    (Stage::FindMeetings, "on their way out", "let put = smaller(depth ⟨/⟩ larger(radius * (0.5", "*"),
    (Stage::FindMeetings, "carried into each other", "return rest_at(rest_row, REST_FREE_PLACE) ⟨<⟩ 0.5", ">"),
    (Stage::FindMeetings, "carried into each other", "return Pill(known3(⟨first⟩) + shift, known3(last)", "last"),
    (Stage::FindMeetings, "on their way out", "let radius = ⟨smaller⟩(pill_radius(first, nearest", "larger"),
    (Stage::FindMeetings, "carried into each other", "if obeys(first_side) ⟨&&⟩ obeys(second_side) {", "||"),
    (Stage::FindMeetings, "carried into each other", "|| rest_at(rest_row, REST_CARRIED) ⟨>⟩ 0.5;", "<"),
    (
        Stage::FindMeetings,
        "carried into each other",
        "let last = carried_in_chain(⟨side.rest + REST_ENTRIES * LANES⟩, side.chain",
        "side.rest",
    ),
    (Stage::FindMeetings, "carried into each other", "known3(last) ⟨+⟩ shift, vec2", "-"),
    (Stage::FindMeetings, "meeting in a shorter frame", "let before = over_mass ⟨*⟩ (params.h", "/"),
    (Stage::FindMeetings, "meeting in a shorter frame", "let comes_back = smaller(now ⟨*⟩ (1.0", "/"),
    (Stage::FindMeetings, "meeting in a shorter frame", "inv_h * ⟨as_before⟩ * point.share * own;", "1.0"),
];

/// All of them.
fn all() -> impl Iterator<Item = &'static Mutant> + Clone {
    let lists = [
        BONES,
        PREDICTION,
        PUSHES,
        SOLVES,
        CONTACTS_AND_VELOCITIES,
        SOLIDS,
        PAIRS_AND_MEETINGS,
        HEALTH_AND_SKIN,
        TREES,
        SOLVES_OF_TREES,
        NETWORKS,
    ];
    lists.into_iter().flatten()
}

/// By how much the two are apart after a stage of the next step; for `check_health` and `report_health` one chain is spoilt, and
/// laid anew.
fn after(scene: &Scene, stage: Stage, (cpu, gpu, handles): &mut (Physics, Physics, Vec<FleshHandle>)) -> f32 {
    let start = cpu.save();
    gpu.restore(&start).unwrap();
    // What chains do that meet, the CPU does between its stages; and what they remember is seen in the substeps after.
    let last = match stage {
        _ if scene.config.passes > 0 => Stage::UpdateVelocities,
        // What they add is seen where it goes.
        Stage::MorphSkin | Stage::InferCorrectives => Stage::DeformSkin,
        // A GPU keeps its rows of solids to itself: they are seen by what the solve makes of them.
        Stage::SolveContacts if scene.touches_solids() => Stage::SolveRods,
        stage => stage,
    };
    let walk = Walk { last: (scene.config.passes == 0).then_some(last), ..Walk::default() };
    for physics in [&mut *cpu, &mut *gpu] {
        if matches!(stage, Stage::CheckHealth | Stage::ReportHealth) {
            let flesh = scene.flesh[0].0.clone();
            let lost = sinew::flesh::NodeState { place: DVec3::NAN, ..physics.node(handles[0], 0, 1).unwrap() };
            physics.state_mut(handles[0]).unwrap().set_node(&flesh, 0, 1, &lost);
        }
        scene.pose(physics, handles, scene.before + 1);
        physics.step_flesh_by(scene.frame, &walk).unwrap();
        physics.finish().unwrap();
    }
    let apart = apart(scene, last, cpu, gpu, handles);
    cpu.restore(&start).unwrap();
    apart
}

/// How far off (10⁻⁵) a kernel may be as it is: what stiff scenes make of roundings. In "trees meeting on the ground" it is 2.8, where the
/// CPU is 1.3 from itself by a rounding of the time step.
const AS_IT_IS: f32 = 3.0;

/// Every mutant is seen in its scene: it is off by more than 10⁻⁵, and than twice what the kernel is as it is.
fn each_is_rejected(mutants: &[Mutant]) {
    let scenes = scenes();
    for (_, name, ..) in mutants {
        assert!(scenes.iter().any(|scene| scene.name == *name), "there is no scene {name}");
    }
    let mut unseen = Vec::new();
    for scene in &scenes {
        let mutants: Vec<&Mutant> = mutants.iter().filter(|(_, name, ..)| *name == scene.name).collect();
        if mutants.is_empty() {
            continue;
        }
        let Some(mut sides) = both(scene) else { return };
        for (stage, ..) in KERNELS {
            let of_stage = all().filter(|mutant| mutant.0 == *stage);
            let numbered = (1..).zip(of_stage.clone()).filter(|(_, mutant)| mutants.contains(mutant));
            if numbered.clone().count() == 0 {
                continue;
            }
            let of_its_own = after(scene, *stage, &mut sides);
            let changes: Vec<(&str, &str)> = of_stage.map(|(.., line, to)| (*line, *to)).collect();
            let compiled = sides.1.replace_kernels(*stage, Some(&switched(*stage, &changes)));
            compiled.unwrap_or_else(|error| panic!("{}: {error}", stage.name()));
            choose(&mut sides.1.config, 0);
            let as_it_is = after(scene, *stage, &mut sides).max(of_its_own);
            assert!(as_it_is <= AS_IT_IS, "{} as it is: {as_it_is} in {}", stage.name(), scene.name);
            for (number, (.., line, to)) in numbered {
                choose(&mut sides.1.config, number);
                let apart_by = after(scene, *stage, &mut sides);
                println!("{:18} {line} → {to}: {apart_by:.1e} × 1e-5 in {}", stage.name(), scene.name);
                if apart_by <= f32::max(1.0, 2.0 * as_it_is) {
                    unseen.push(format!("{line} → {to} in {}", scene.name));
                }
            }
            sides.1.replace_kernels(*stage, None).unwrap();
        }
    }
    assert!(unseen.is_empty(), "not seen: {unseen:#?}");
}

#[test]
fn changed_bones_are_seen() {
    each_is_rejected(BONES);
}

#[test]
fn changed_predictions_are_seen() {
    each_is_rejected(PREDICTION);
}

#[test]
fn changed_pushes_are_seen() {
    each_is_rejected(PUSHES);
}

#[test]
fn changed_solves_are_seen() {
    each_is_rejected(SOLVES);
}

#[test]
fn changed_contacts_and_velocities_are_seen() {
    each_is_rejected(CONTACTS_AND_VELOCITIES);
}

#[test]
fn changed_solids_are_seen() {
    each_is_rejected(SOLIDS);
}

#[test]
fn changed_pairs_and_meetings_are_seen() {
    each_is_rejected(PAIRS_AND_MEETINGS);
}

#[test]
fn changed_health_and_skin_are_seen() {
    each_is_rejected(HEALTH_AND_SKIN);
}

#[test]
fn changed_trees_are_seen() {
    each_is_rejected(TREES);
}

#[test]
fn changed_solves_of_trees_are_seen() {
    each_is_rejected(SOLVES_OF_TREES);
}

#[test]
fn changed_networks_are_seen() {
    each_is_rejected(NETWORKS);
}

#[test]
fn there_are_at_least_thirty_and_one_of_each_stage() {
    let all: Vec<&Mutant> = all().collect();
    println!("{} mutants", all.len());
    assert!(all.len() >= 30);
    for (stage, specs) in KERNELS {
        let built = cfg!(feature = "neural") || *stage != Stage::InferCorrectives;
        // Their rows are a GPU's alone: those of tests/gpu_sleep.rs and tests/gpu_events.rs see them.
        let built = built && !matches!(stage, Stage::LetSleep | Stage::Tally);
        assert!(specs.is_empty() || !built || all.iter().any(|(of, ..)| of == stage), "{} has none", stage.name());
    }
    all.iter().for_each(|(stage, _, line, to)| assert_ne!(changed(*stage, line, to), ""));
}
