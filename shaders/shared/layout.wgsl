// The bytes that the CPU and the GPU share, and the way from a thread to its chain. What each entry is, src/layout.rs
// says.

const LANES: u32 = 8u;
const WORKGROUP_SIZE: u32 = 64u;
const MAX_WORKGROUPS: u32 = 65535u;
const POSE: u32 = 7u;
const MAX_BONES: u32 = 4u;
const UNKNOWNS: u32 = 7u;

// Entries of a rest row, one a node, of the asset.
const REST_MASS: u32 = 0u;
const REST_INERTIA_U: u32 = 1u;
const REST_INERTIA_V: u32 = 2u;
const REST_INERTIA_UV: u32 = 3u;
const REST_INERTIA_W: u32 = 4u;
const REST_RADIUS: u32 = 5u;
const REST_DAMPING: u32 = 6u;
const REST_BONE_BLEND: u32 = 7u;
const REST_FREE_PLACE: u32 = 8u;
const REST_FREE_FRAME: u32 = 9u;
const REST_FREE_SCALE: u32 = 10u;
const REST_HOLD_SLOT: u32 = 11u;
const REST_HOLD_PLACE: u32 = 12u;
const REST_HOLD_FRAME: u32 = 15u;
const REST_SURFACE_BENDING: u32 = 19u;
const REST_INV_LENGTH: u32 = 20u;
const REST_STRAIN: u32 = 21u;
const REST_DARBOUX: u32 = 24u;
const REST_AXIAL: u32 = 27u;
const REST_SHEAR: u32 = 28u;
const REST_LATERAL: u32 = 29u;
const REST_SCALE_DIFFERENCE: u32 = 30u;
const REST_VOLUME: u32 = 31u;
const REST_BEND_U: u32 = 32u;
const REST_BEND_V: u32 = 33u;
const REST_BEND_UV: u32 = 34u;
const REST_TORSION: u32 = 35u;
const REST_VOLUME_BEND_U: u32 = 36u;
const REST_VOLUME_BEND_V: u32 = 37u;
const REST_CARRIED: u32 = 38u;
const REST_STRAIN_ROUNDING: u32 = 39u;
const REST_STRETCH: u32 = 40u;
const REST_SLIDES: u32 = 41u;
const REST_ACTIVE: u32 = 42u;
const REST_FIBRE_STRAIN: u32 = 43u;
const REST_FIBRE_DARBOUX: u32 = 44u;
const REST_FIBRE_SCALE: u32 = 47u;
const REST_FIBRE_DIFFERENCE: u32 = 48u;
const REST_INV_OPTIMAL: u32 = 49u;
const REST_PASSIVE: u32 = 50u;
const REST_INV_MAX_VELOCITY: u32 = 51u;
const REST_SHORTENING: u32 = 52u;
const REST_SCALE: u32 = 53u;
const REST_FIBRE_STIFFNESS: u32 = 54u;
const REST_SERIES: u32 = 55u;
const REST_TURN_ROUNDING: u32 = 56u;
const REST_FASTEST2: u32 = 57u;
const REST_NEXT_PLACE: u32 = 58u;
const REST_NEXT_FRAME: u32 = 61u;
const REST_BUILT_STRAIN: u32 = 65u;
const REST_BUILT_DARBOUX: u32 = 68u;
const REST_LETS_IN: u32 = 71u;
const REST_FOLLOWS: u32 = 72u;
const REST_FASCIA: u32 = 73u;
const REST_FASCIA_TAUT: u32 = 74u;
const REST_FASCIA_ACTIVE: u32 = 75u;
const REST_LENGTH: u32 = 76u;
const REST_WEIGHT_STRETCH: u32 = 77u;
const REST_TURN_SLOT: u32 = 78u;
const REST_TIED: u32 = 79u;
const REST_NEXT_TURN_SLOT: u32 = 80u;
const REST_TURNS: u32 = 81u;
const REST_CHORD_SHARE: u32 = 82u;
const REST_CHORD_PLACE: u32 = 83u;
const REST_CHORD_NEXT: u32 = 86u;
const REST_CHORD_JOINT: u32 = 89u;
const REST_UNFOLDS: u32 = 90u;
const REST_SLIDES_IN_BED: u32 = 91u;
const REST_STRAIN_TIME2: u32 = 92u;
const REST_LEAST_COUNTED: u32 = 93u;
const REST_REACTION: u32 = 94u;
const REST_HUNG: u32 = 95u;
const REST_BODY_MASS: u32 = 96u;
const REST_ENTRIES: u32 = 97u;

// Entries of the rest row that a group in which chains hang on chains has after those of its nodes.
const TREE_CHAIN: u32 = 0u;
const TREE_STEM: u32 = 1u;
const TREE_STEM_NODE: u32 = 2u;
const TREE_NODE: u32 = 3u;
const TREE_FIRST: u32 = 4u;
const TREE_NEXT: u32 = 5u;
const TREE_ROOT: u32 = 6u;
const TREE_FOLLOWING: u32 = 7u;
const TREE_LEVEL: u32 = 8u;
const TREE_STUMP: u32 = 9u;
const TREE_PLACE: u32 = 10u;
const TREE_FRAME: u32 = 13u;
const TREE_COUNT: u32 = 17u;

// Entries of a node row, one a node, of the state.
const NODE_PLACE: u32 = 0u;
const NODE_SCALE: u32 = 3u;
const NODE_FRAME: u32 = 4u;
const NODE_VELOCITY: u32 = 8u;
const NODE_SCALE_RATE: u32 = 11u;
const NODE_SPIN: u32 = 12u;
const NODE_OLDER_MOVE: u32 = 15u;
const NODE_OLDER_SCALING: u32 = 18u;
const NODE_OLDER_TURN: u32 = 19u;
const NODE_OLDER_VELOCITY: u32 = 22u;
const NODE_OLDER_SCALE_RATE: u32 = 25u;
const NODE_OLDER_SPIN: u32 = 26u;
const NODE_PREV_PLACE: u32 = 29u;
const NODE_PREV_SCALE: u32 = 32u;
const NODE_PREV_FRAME: u32 = 33u;
const NODE_PREDICTED_MOVE: u32 = 37u;
const NODE_PREDICTED_SCALE: u32 = 40u;
const NODE_PREDICTED_FRAME: u32 = 41u;
const NODE_PREV_FIBRE_STRETCH: u32 = 45u;
const NODE_MOVED: u32 = 46u;
const NODE_TARGET_PLACE: u32 = 49u;
const NODE_TARGET_FRAME: u32 = 52u;
const NODE_REFERENCE_STRAIN: u32 = 56u;
const NODE_REFERENCE_DARBOUX: u32 = 59u;
const NODE_REFERENCE_SCALE: u32 = 62u;
const NODE_TIE: u32 = 63u;
const NODE_BED: u32 = 64u;
const NODE_BED_PATH: u32 = 67u;
const NODE_ENTRIES: u32 = 70u;

// Entries of an input row, one a group: what the host says once a frame.
const INPUT_BONE_FROM: u32 = 0u;
const INPUT_BONE_TO: u32 = 28u;
const INPUT_ORIGIN: u32 = 56u;
const INPUT_HANGS: u32 = 59u;
const INPUT_ACTIVATION: u32 = 60u;
const INPUT_TELEPORT: u32 = 61u;
const INPUT_ACCELERATION: u32 = 62u;
const INPUT_LOAD: u32 = 65u;
const INPUT_KICKED: u32 = 66u;
const INPUT_KEPT: u32 = 67u;
const INPUT_KICK_VELOCITY: u32 = 68u;
const INPUT_KICK_SPIN: u32 = 71u;
const INPUT_FORCES: u32 = 74u;
const INPUT_WORKS: u32 = 75u;
const INPUT_STIRRED: u32 = 76u;
const INPUT_ENTRIES: u32 = 77u;

// Entries of a force row, one a node of a group of which any node is pushed.
const FORCE_ACCELERATION: u32 = 0u;
const FORCE_VELOCITY: u32 = 3u;
const FORCE_ENTRIES: u32 = 6u;

// Entries of a plane row, one a half-space and group: where it is in the frame.
const PLANE_NORMAL_FROM: u32 = 0u;
const PLANE_OFFSET_FROM: u32 = 3u;
const PLANE_NORMAL_TO: u32 = 4u;
const PLANE_OFFSET_TO: u32 = 7u;
const PLANE_FRICTION: u32 = 8u;
const PLANE_MOVE: u32 = 9u;
const PLANE_TURN: u32 = 12u;
const PLANE_RESTITUTION: u32 = 15u;
const PLANE_ENTRIES: u32 = 16u;

// Entries of a meet row: a point at which two segments of different chains touch.
const MEET_ALONG: u32 = 0u;
const MEET_DIRECTION: u32 = 2u;
const MEET_SCALE_TERM: u32 = 5u;
const MEET_ARM: u32 = 7u;
const MEET_GAP: u32 = 9u;
const MEET_STIFFNESS: u32 = 10u;
const MEET_FRICTION: u32 = 11u;
const MEET_ANCHOR: u32 = 12u;
const MEET_RUBS: u32 = 15u;
const MEET_TURN_ANCHOR: u32 = 16u;
const MEET_FORCE: u32 = 19u;
const MEET_PULL: u32 = 20u;
const MEET_COUPLE: u32 = 23u;
const MEET_OVER_MASS: u32 = 26u;
const MEET_ENTRIES: u32 = 27u;
const MEET_OF_PAIRS: u32 = 70u;

// Entries of what the last solve's matrix has of a contact row, and of what passes want of it after these.
const SOLVED_STIFFNESS: u32 = 0u;
const SOLVED_FRICTION: u32 = 1u;
const SOLVED_SLIPPING: u32 = 2u;
const SOLVED_WAY: u32 = 3u;
const SOLVED_FORCE: u32 = 6u;
const SOLVED_ROLLING: u32 = 7u;
const SOLVED_COUPLE: u32 = 8u;
const SOLVED_BEFORE: u32 = 11u;
const SOLVED_CHANGE: u32 = 18u;
const SOLVED_ENTRIES: u32 = 25u;
const WANTED: u32 = 7u;

// Words of a segment's partners.
const PARTNERS_FIRST: u32 = 0u;
const PARTNERS_COUNT: u32 = 1u;
const PARTNERS_FIRST_PAIR: u32 = 2u;
const PARTNERS_UPPER: u32 = 3u;
const PARTNERS_LISTED: u32 = 4u;
const PARTNERS_ENTRIES: u32 = 5u;

// In the place of a chain, what no pair is.
const NO_PAIR: u32 = 0xffffffffu;
// Cells around a segment, its own too, in which others of a level may be that it touches.
const CELLS_AROUND: u32 = 27u;
// The bits of 1.0, to which words of rows that press add theirs, so that they stay plain numbers.
const PRESSING: u32 = 0x3f800000u;
// Words that say how many contact rows press in a solve, and did at most in the frame's solves before it.
const PRESSING_WORDS: u32 = 2u;
const FORGETS: u32 = 1u;
const OWN_CHAINS: u32 = 2u;
const WITHIN_CHAINS: u32 = 4u;

// Words before those of the grid's cells, and how many of these a segment has at most.
const CELLS_HEADER: u32 = 2u;
const CELLS_A_SEGMENT: u32 = 4u;

// Entries of a contact row: something that touches a chain.
const CONTACT_SEGMENT: u32 = 0u;
const CONTACT_ALONG: u32 = 1u;
const CONTACT_DIRECTION: u32 = 2u;
const CONTACT_SCALE_TERM: u32 = 5u;
const CONTACT_ARM: u32 = 6u;
const CONTACT_GAP: u32 = 7u;
const CONTACT_STIFFNESS: u32 = 8u;
const CONTACT_FRICTION: u32 = 9u;
const CONTACT_LIMIT: u32 = 10u;
const CONTACT_STICKS: u32 = 11u;
const CONTACT_ANCHOR: u32 = 12u;
const CONTACT_DUAL: u32 = 15u;
const CONTACT_TANGENT: u32 = 16u;
const CONTACT_ROLLING: u32 = 19u;
const CONTACT_ROLLING_LIMIT: u32 = 20u;
const CONTACT_TURN: u32 = 21u;
const CONTACT_STAYS: u32 = 24u;
const CONTACT_BOUNCE: u32 = 25u;
const CONTACT_MIDDLE: u32 = 25u;
const CONTACT_MASS: u32 = 26u;
const CONTACT_CAME: u32 = 27u;
const CONTACT_COMES: u32 = 28u;
const CONTACT_ENTRIES: u32 = 29u;

// Entries of a tangent row: the plane that is tangent to a solid where a segment is nearest to it.
const TANGENT_ALONG: u32 = 1u;
const TANGENT_SHARE: u32 = 2u;
const TANGENT_DENTS: u32 = 3u;
const TANGENT_OWN: u32 = 4u;
const TANGENT_ALLOWED: u32 = 5u;
const TANGENT_PLANE: u32 = 6u;

// What follows in it, which solid that is, and how many a segment has.
const TOUCH_SOLID: u32 = 22u;
const TOUCHES: u32 = 4u;
const TOUCHES_RECORDING: u32 = 1u;
const TOUCHES_NEAR: u32 = 2u;
const NO_RULE: u32 = 0xffffffffu;

// Words of a solid, of how it goes in a substep, and what its form may be.
const SOLID_FORM: u32 = 0u;
const SOLID_SHAPE: u32 = 1u;
const SOLID_MOTION: u32 = 2u;
const SOLID_MOTIONS: u32 = 3u;
const SOLID_BORDER: u32 = 4u;
const SOLID_FRICTION: u32 = 5u;
const SOLID_RUBS_BY: u32 = 6u;
const SOLID_DENTS: u32 = 7u;
const SOLID_MEMBERSHIPS: u32 = 8u;
const SOLID_FILTER: u32 = 9u;
const SOLID_CENTRE: u32 = 10u;
const SOLID_EXTENT: u32 = 13u;
const SOLID_SWEEP: u32 = 14u;
const SOLID_RESTITUTION: u32 = 15u;
const SOLID_BOUNCES_BY: u32 = 16u;
const SOLID_ENTRIES: u32 = 17u;
const MOTION_ANCHOR: u32 = 0u;
const MOTION_OFFSET: u32 = 3u;
const MOTION_FRAME: u32 = 6u;
const MOTION_TURN: u32 = 10u;
const MOTION_BY: u32 = 14u;
const MOTION_GOES: u32 = 17u;
const MOTION_TURNS: u32 = 20u;
const MOTION_ABOUT: u32 = 23u;
const MOTION_ENTRIES: u32 = 26u;
const FORM_SEGMENT: u32 = 1u;
const FORM_CUBOID: u32 = 2u;
const FORM_CYLINDER: u32 = 3u;
const FORM_CONE: u32 = 4u;
const FORM_CONVEX: u32 = 5u;
const FORM_MESH: u32 = 6u;
const CONVEX_ENTRIES: u32 = 13u;
const MESH_ONE_SIDED: u32 = 0u;
const MESH_NODE_COUNT: u32 = 1u;
const MESH_ITEMS: u32 = 2u;
const MESH_TRIANGLES: u32 = 3u;
const MESH_POINTS: u32 = 4u;
const MESH_ENTRIES: u32 = 5u;
const BOX_NODE_ENTRIES: u32 = 9u;
const BOX_ITEM_ENTRIES: u32 = 7u;
const TRIANGLE_ASKED: u32 = 3u;
const TRIANGLE_ACROSS: u32 = 4u;
const TRIANGLE_AROUND: u32 = 10u;
const TRIANGLE_ENTRIES: u32 = 16u;

// Entries of a chain row, one a group, of the state: how its bones moved, and how its solves went.
const CHAIN_BONE_OLDER: u32 = 0u;
const CHAIN_BONE_PREV: u32 = 28u;
const CHAIN_BONE_NOW: u32 = 56u;
const CHAIN_HISTORY: u32 = 84u;
const CHAIN_MEAN_STRETCH: u32 = 85u;
const CHAIN_START_POTENTIAL: u32 = 86u;
const CHAIN_POTENTIAL: u32 = 87u;
const CHAIN_ROUGH: u32 = 88u;
const CHAIN_CALM: u32 = 89u;
const CHAIN_UNWELL: u32 = 90u;
const CHAIN_RESETS: u32 = 91u;
const CHAIN_ACTIVATION: u32 = 92u;
const CHAIN_ORIGIN: u32 = 93u;
const CHAIN_MEETS: u32 = 96u;
const CHAIN_SLEEPS: u32 = 97u;
const CHAIN_ENTRIES: u32 = 98u;

// What a chain's row says of a chain that sleeps in the frame, and of one that did in the one before.
const SLEEPS_NOW: f32 = 1.0;
const SLEPT_BEFORE: f32 = 0.5;

// Words of how still an instance is, of either of two frames in turn.
const REST_WATCH_STILL: u32 = 0u;
const REST_WATCH_RECORDING: u32 = 1u;
const REST_WATCH_BESIDE: u32 = 2u;
const REST_WATCH_STIRRED: u32 = 3u;
const REST_WATCH_ENTRIES: u32 = 4u;

// Entries of a box within which something changes that wakes what sleeps there.
const STIR_LOW: u32 = 0u;
const STIR_HIGH: u32 = 3u;
const STIR_ENTRIES: u32 = 6u;

// Words of the row before all tallies, and of a tally: what one thing presses a chain with in a frame.
const TALLIES_FOUND: u32 = 0u;
const TALLIES_ROOM: u32 = 1u;
const TALLIES_FIRST: u32 = 2u;
const TALLY_NEXT: u32 = 0u;
const TALLY_INSTANCE: u32 = 1u;
const TALLY_CHAIN: u32 = 2u;
const TALLY_OTHER: u32 = 3u;
const TALLY_IMPULSE: u32 = 4u;
const TALLY_PUSH: u32 = 5u;
const TALLY_ENTRIES: u32 = 8u;
const TALLY_PLANE: u32 = 0x40000000u;
const TALLY_SOLID: u32 = 0x80000000u;

// Entries of a reaction row: what a held node does to what holds it.
const REACTION_FORCE: u32 = 0u;
const REACTION_COUPLE: u32 = 3u;
const REACTION_ENTRIES: u32 = 6u;

// Entries of the scratch row of a held node: its rows before they are taken out of the system.
const HELD_RHS: u32 = 0u;
const HELD_BLOCK: u32 = 7u;
const HELD_COUPLING: u32 = 35u;
const HELD_ENTRIES: u32 = 84u;

// Entries of what a node bears of the chains that hang on it.
const BORNE_RHS: u32 = 0u;
const BORNE_BLOCK: u32 = 7u;

// Entries of the scratch row of what is left of a chain that hangs on another.
const STUMP_RHS: u32 = 0u;
const STUMP_BLOCK: u32 = 6u;
const STUMP_COUPLING: u32 = 27u;
const STUMP_ARM: u32 = 33u;
const STUMP_OUTWARD: u32 = 36u;
const STUMP_BORNE: u32 = 39u;

// Entries of a node's scratch row: the block factor, and steps.
const SCRATCH_LOWER: u32 = 0u;
const SCRATCH_INV_PIVOT: u32 = 21u;
const SCRATCH_COUPLING: u32 = 28u;
const SCRATCH_RHS: u32 = 77u;
const SCRATCH_STEP: u32 = 84u;
const SCRATCH_BASE: u32 = 91u;
const SCRATCH_SIDES: u32 = 99u;
const SCRATCH_ENTRIES: u32 = 101u;

// Where a group of LANES chains lies; its own place in the table is its input row and its chain row.
struct Group {
    node_base: u32,
    rest_base: u32,
    node_count: u32,
    contact_base: u32,
    reaction_base: u32,
    scratch_base: u32,
    segment_base: u32,
    overlap_base: u32,
    overlap_count: u32,
    told_in: u32,
    own: u32,
    memberships: u32,
    touches: u32,
    touch_base: u32,
    touch_count: u32,
    to_solids: u32,
    touched_solids: u32,
    rubs: u32,
    rubs_by: u32,
    bounces: u32,
    bounces_by: u32,
    pill_base: u32,
    pill_count: u32,
    pill_rest_base: u32,
    pill_motion_base: u32,
    instance: u32,
}

// A segment that may touch those of other chains in the frame.
struct Segment {
    centre: vec3<f32>,
    reach: f32,
    level: u32,
    chain: u32,
    node: u32,
    base: u32,
    first: vec3<f32>,
    first_radius: f32,
    last: vec3<f32>,
    last_radius: f32,
    first_velocity: vec3<f32>,
    slack: f32,
    last_velocity: vec3<f32>,
    flags: u32,
    overlap_base: u32,
    overlap_count: u32,
    memberships: u32,
    touches: u32,
}

// Which groups an instance's chains are in.
struct InstanceGroups {
    group_base: u32,
    group_count: u32,
}

// What an instance says of itself after a frame without being asked.
struct HealthReport {
    resets: u32,
    recording: u32,
    asleep: u32,
}

// What every stage of a substep knows.
struct StepParams {
    gravity: vec3<f32>,
    h: f32,
    inv_h: f32,
    h_over_last_h: f32,
    alpha: f32,
    second_order: f32,
    first_substep: u32,
    retries: u32,
    frame: f32,
    group_count: u32,
    skin_block_count: u32,
    section_block_count: u32,
    iteration: u32,
    plane_count: u32,
    instance_count: u32,
    recording: u32,
    carried_count: u32,
    iterations: u32,
    passes: u32,
    settling: u32,
    segment_count: u32,
    cell_count: u32,
    pair_capacity: u32,
    meet_base: u32,
    solved_base: u32,
    remembers: u32,
    morph_block_count: u32,
    network_count: u32,
    network_group_count: u32,
    network_block_count: u32,
    lone_count: u32,
    level_count: u32,
    solid_count: u32,
    solid_base: u32,
    bounces: u32,
    sleep_after: f32,
    sleep_within: f32,
    stir_count: u32,
}

// Word index of one entry of one lane in an array whose rows have `entries` entries.
fn word(row: u32, entries: u32, entry: u32, lane: u32) -> u32 {
    return (row * entries + entry) * LANES + lane;
}

// Where one of the poses stored from `at` on begins, by slot.
fn bone_of_slot(at: u32, slot: f32) -> u32 {
    return at + POSE * min(u32(slot + 0.5), MAX_BONES - 1u);
}

// First word of what is known of a point of a pair in this frame.
fn meet_word(pair: u32, point: u32) -> u32 {
    return word(pair / LANES, MEET_OF_PAIRS, point * MEET_FORCE, pair % LANES);
}

// The same of what it remembers, for either of two frames in turn: 0 and 1. Its entries begin with MEET_FORCE.
fn memory_word(pair: u32, frame: u32, point: u32) -> u32 {
    let before = 2u * MEET_FORCE + (frame * 2u + point) * (MEET_ENTRIES - MEET_FORCE);
    return word(pair / LANES, MEET_OF_PAIRS, before - MEET_FORCE, pair % LANES);
}

// Of candidates few touch: the two rows of a side, counted through for all sides, have a contact row each while they press. What says
// which lies before what the last solve's matrix has of these, `solved_base`: how many press now and did at most in the frame, the
// contact row of each row of a side, and a word of bits for eight sides.
fn pressing_count_word(solved_base: u32) -> u32 {
    return solved_base - 1u;
}

fn most_pressing_word(solved_base: u32) -> u32 {
    return solved_base - 2u;
}

fn contact_of_row_word(row: u32, solved_base: u32) -> u32 {
    return solved_base - PRESSING_WORDS - 1u - row;
}

fn pressing_word(side: u32, pair_capacity: u32, solved_base: u32) -> u32 {
    return solved_base - PRESSING_WORDS - 1u - 4u * pair_capacity - side / LANES;
}

// First word of the k-th contact row of meetings, where these begin with row `base`.
fn meet_contact_word(base: u32, k: u32) -> u32 {
    return word(base + k / LANES, CONTACT_ENTRIES, 0u, k % LANES);
}

// First word of what the last solve's matrix has of the contact row in a place, counted lane by lane; the first one's is `base`.
fn solved_word(place: u32, base: u32) -> u32 {
    return base + word(place / LANES, SOLVED_ENTRIES + WANTED, 0u, place % LANES);
}

// The thread's number, from global_invocation_id: a dispatch has rows of at most MAX_WORKGROUPS workgroups.
fn thread_of(invocation: vec3<u32>) -> u32 {
    return invocation.y * (MAX_WORKGROUPS * WORKGROUP_SIZE) + invocation.x;
}

// One thread is one chain: neighbouring threads are neighbouring lanes.
fn group_of(thread: u32) -> u32 {
    return thread / LANES;
}

fn lane_of(thread: u32) -> u32 {
    return thread % LANES;
}
