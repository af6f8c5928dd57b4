//! What shaders may declare under the same names.

use crate::collisions::{MOST_FRICTION, RUBS};
use crate::cpu::{
    bodies::{MOST_KEPT, SLENDER, SLENDER_KEPT, SLENDEREST},
    carry::OFF_JOINT,
    check_health::{
        FINITE, FOLDED, JERKED_HASTE, LEAST_FILL, LEAST_TURN_DOT2, LIMP, MOST_OFF, MOST_STRETCH, MOST_SWELLING,
        PATIENCE, SHAPE_HASTE, TAUT, WITHIN_REACH,
    },
    contact_rows::{AMISS, GENTLY, LET_THROUGH, MOST_DUAL, PULLED},
    descent::{ENOUGH, FURTHER, LEAST_SHARE, SHORTENINGS, STIFFENED, URGENT},
    fascia::{ALONG, FARTHEST2, FOLD, LEAST_LENGTH, TRACE},
    fibres::{GAUSS, PUSH, RESTING, SHORT, TOE},
    find_meetings::{
        self, APART, CARRIED_APART, DEEP, GIVES_WAY, HANDS_OVER, MEETING, MOST_RATIO, MOVES, SHORTEST, SOFTENS, STEADY,
        STIFFENS,
    },
    gather_segments::PLACES_ROUND,
    left_out::{LEAST_GIVEN, LIES, LYING_GIVEN, MOST_GIVEN, MOST_LEFT_OUT},
    math::{LEAST_DIVISOR, MOST_TURN2},
    meetings::{FARTHEST, LET_IN, PAST, ROLLING, ROLLS, YIELDS},
    pills::{ALONGSIDE, CROSSED, LEVEL, ROCKS},
    potential::{ALIGNED, MOST_ROUNDING, PIVOT_ROUNDINGS},
    predict::SCALE_LIMIT,
    rod_energies::{LEAST_SLOPE2, STEEPER, THIN, UNKNOWNS},
    settle::{AS_GOOD, GOES_ON, WANTED},
    solid_slots::ALIKE,
    solids::{DEEPER, FOLLOWS, MOST_REACH, ROUNDED, SLACK},
    solve_contacts::{
        AMPLE, FIRM, FIRMEST, LEAST_BOUNCE, LONGEST_STOP, MOST_LOAD, PENALTY, RECOVERY_SPEED, SQUEEZED, STICKING,
        STIFFEST, STILL_COMES, STOPS,
    },
    solve_rods::{LEAST_PIVOT, ROUGH, TRUSTED},
    solved::{LEAST_SCALE, MOST_SCALE},
    strains::{LEAST_COSINE, RESOLVED},
    update_velocities::MOST_GAIN,
};
use crate::gpu::solid_pool::{EDGE_SLACK, KINK, NEAR_CHAIN};
use crate::half_space::MOST_TURN;
use crate::layout::{
    BLOCK_NUMBERS, BOX_ITEM_ENTRIES, BOX_NODE_ENTRIES, CELLS_A_SEGMENT, CELLS_AROUND, CELLS_HEADER, CONVEX_ENTRIES,
    FORGETS, Group, HealthReport, InstanceGroups, LANES, LEVEL_OF_METRES, LEVELS, MAX_BONES, MAX_WORKGROUPS,
    MOST_OUTPUT, MorphBlock, MorphPull, NETWORK_GROUP, NO_DELTAS, NO_PAIR, NO_RULE, NetworkGroup, NetworkLayers,
    NetworkPlace, NetworkRun, OWN_CHAINS, POSE, PRESSING, PRESSING_WORDS, SectionBlock, Segment, SkinBlock,
    SkinnedVertex, StructLayout, TOUCHES, WITHIN_CHAINS, WORKGROUP_SIZE,
};
use crate::layout::{
    borne, chain, contact, force, form, held, input, meet, mesh, motion, node, partners, plane, reaction, rest,
    rest_watch, scratch, sleeps, solid, solved, stir, stump, tallies, tally, tangent, touch, tree, triangle,
};
use crate::shape::{BISECTIONS, FLAT};
use crate::skin::{ModelPose, SectionMatrix, SectionWeight, SkinSection, SkinVertex};
use crate::step::StepParams;
use crate::wgsl_struct;

wgsl_struct!(Group {
    node_base,
    rest_base,
    node_count,
    contact_base,
    reaction_base,
    scratch_base,
    segment_base,
    overlap_base,
    overlap_count,
    told_in,
    own,
    memberships,
    touches,
    touch_base,
    touch_count,
    to_solids,
    touched_solids,
    rubs,
    rubs_by,
    bounces,
    bounces_by,
    pill_base,
    pill_count,
    pill_rest_base,
    pill_motion_base,
    instance,
});
wgsl_struct!(Segment {
    centre,
    reach,
    level,
    chain,
    node,
    base,
    first,
    first_radius,
    last,
    last_radius,
    first_velocity,
    slack,
    last_velocity,
    flags,
    overlap_base,
    overlap_count,
    memberships,
    touches,
});
wgsl_struct!(SkinBlock {
    vertex_base,
    vertex_count,
    skinned_base,
    weight_base,
    matrix_base,
    palette_base,
    dual,
    morph_base,
    network_base,
    linear_base
});
wgsl_struct!(MorphBlock { vertex_count, start_base, pull_base, weight_base, delta_base });
wgsl_struct!(MorphPull { morph, place, normal, tangent });
wgsl_struct!(NetworkLayers { inputs, first_hidden, second_hidden, components, words });
wgsl_struct!(NetworkPlace { layers, mean_base, mean_count, first_base, row_base, basis_base, per_word });
wgsl_struct!(NetworkRun {
    network,
    input_base,
    unit_base,
    coefficient_base,
    delta_base,
    weight,
    passive_count,
    active_count
});
wgsl_struct!(NetworkGroup { run_base, run_count, block_base });
wgsl_struct!(SectionBlock { section_base, section_count, matrix_base, group_base, pose_base, chain_count });
wgsl_struct!(InstanceGroups { group_base, group_count });
wgsl_struct!(HealthReport { resets, recording, asleep });
wgsl_struct!(SkinnedVertex { position, normal, tangent });
wgsl_struct!(StepParams {
    gravity,
    h,
    inv_h,
    h_over_last_h,
    alpha,
    second_order,
    first_substep,
    retries,
    frame,
    group_count,
    skin_block_count,
    section_block_count,
    iteration,
    plane_count,
    instance_count,
    recording,
    carried_count,
    iterations,
    passes,
    settling,
    segment_count,
    cell_count,
    pair_capacity,
    meet_base,
    solved_base,
    remembers,
    morph_block_count,
    network_count,
    network_group_count,
    network_block_count,
    lone_count,
    level_count,
    solid_count,
    solid_base,
    bounces,
    sleep_after,
    sleep_within,
    stir_count,
});
wgsl_struct!(SkinVertex {
    position,
    first_section,
    normal,
    section_count,
    rest_position,
    padding_a,
    rest_normal,
    padding_b,
    joints,
    weights,
    tangent,
    rest_tangent,
    padding_c,
});
wgsl_struct!(SectionWeight { section, weight });
wgsl_struct!(SkinSection { place, group, frame, node, lane, chain, bone_blend, bones, reach, padding });
wgsl_struct!(SectionMatrix { place, normal });
wgsl_struct!(ModelPose { rotation, translation, padding });

/// Every struct that a shader may declare under the same name.
pub const STRUCTS: &[StructLayout] = &[
    StructLayout::of::<Group>(),
    StructLayout::of::<Segment>(),
    StructLayout::of::<SkinBlock>(),
    StructLayout::of::<MorphBlock>(),
    StructLayout::of::<MorphPull>(),
    StructLayout::of::<NetworkLayers>(),
    StructLayout::of::<NetworkPlace>(),
    StructLayout::of::<NetworkRun>(),
    StructLayout::of::<NetworkGroup>(),
    StructLayout::of::<SectionBlock>(),
    StructLayout::of::<InstanceGroups>(),
    StructLayout::of::<HealthReport>(),
    StructLayout::of::<SkinnedVertex>(),
    StructLayout::of::<StepParams>(),
    StructLayout::of::<SkinVertex>(),
    StructLayout::of::<SectionWeight>(),
    StructLayout::of::<SkinSection>(),
    StructLayout::of::<SectionMatrix>(),
    StructLayout::of::<ModelPose>(),
];

/// The entries of a row kind, with its name before each.
macro_rules! entries {
    ($module:ident $prefix:literal: $($entry:ident)+) => {
        [$((concat!($prefix, stringify!($entry)), $module::$entry as u32)),+]
    };
}

const REST: &[(&str, u32)] = &entries!(rest "REST_":
    MASS INERTIA_U INERTIA_V INERTIA_UV INERTIA_W RADIUS DAMPING BONE_BLEND FREE_PLACE FREE_FRAME FREE_SCALE
    HOLD_SLOT HOLD_PLACE HOLD_FRAME SURFACE_BENDING INV_LENGTH STRAIN DARBOUX AXIAL SHEAR LATERAL
    SCALE_DIFFERENCE VOLUME BEND_U BEND_V BEND_UV TORSION VOLUME_BEND_U VOLUME_BEND_V CARRIED STRAIN_ROUNDING
    STRETCH SLIDES ACTIVE FIBRE_STRAIN FIBRE_DARBOUX FIBRE_SCALE FIBRE_DIFFERENCE INV_OPTIMAL PASSIVE
    INV_MAX_VELOCITY SHORTENING SCALE FIBRE_STIFFNESS SERIES TURN_ROUNDING FASTEST2 NEXT_PLACE NEXT_FRAME
    BUILT_STRAIN BUILT_DARBOUX LETS_IN FOLLOWS FASCIA FASCIA_TAUT FASCIA_ACTIVE LENGTH WEIGHT_STRETCH TURN_SLOT TIED
    NEXT_TURN_SLOT TURNS CHORD_SHARE CHORD_PLACE CHORD_NEXT CHORD_JOINT UNFOLDS SLIDES_IN_BED STRAIN_TIME2
    LEAST_COUNTED REACTION HUNG BODY_MASS ENTRIES
);
const NODE: &[(&str, u32)] = &entries!(node "NODE_":
    PLACE SCALE FRAME PREV_PLACE PREV_SCALE PREV_FRAME VELOCITY SCALE_RATE SPIN MOVED PREDICTED_MOVE
    PREDICTED_SCALE PREDICTED_FRAME OLDER_MOVE OLDER_SCALING OLDER_TURN OLDER_VELOCITY OLDER_SCALE_RATE
    OLDER_SPIN TARGET_PLACE TARGET_FRAME PREV_FIBRE_STRETCH REFERENCE_STRAIN REFERENCE_DARBOUX REFERENCE_SCALE TIE
    BED BED_PATH ENTRIES
);
const INPUT: &[(&str, u32)] = &entries!(input "INPUT_":
    BONE_FROM BONE_TO ORIGIN HANGS ACTIVATION TELEPORT ACCELERATION LOAD KICKED KEPT KICK_VELOCITY KICK_SPIN FORCES
    WORKS STIRRED ENTRIES
);
const CHAIN: &[(&str, u32)] = &entries!(chain "CHAIN_":
    BONE_OLDER BONE_PREV BONE_NOW HISTORY MEAN_STRETCH START_POTENTIAL POTENTIAL ROUGH CALM UNWELL RESETS
    ACTIVATION ORIGIN MEETS SLEEPS ENTRIES
);
const FORCE: &[(&str, u32)] = &entries!(force "FORCE_": ACCELERATION VELOCITY ENTRIES);
const PLANE: &[(&str, u32)] = &entries!(plane "PLANE_":
    NORMAL_FROM OFFSET_FROM NORMAL_TO OFFSET_TO FRICTION MOVE TURN RESTITUTION ENTRIES
);
const CONTACT: &[(&str, u32)] = &entries!(contact "CONTACT_":
    SEGMENT ALONG DIRECTION SCALE_TERM ARM GAP STIFFNESS FRICTION LIMIT STICKS ANCHOR DUAL TANGENT
    ROLLING ROLLING_LIMIT TURN STAYS BOUNCE MIDDLE MASS CAME COMES ENTRIES
);
const TANGENT: &[(&str, u32)] = &entries!(tangent "TANGENT_": ALONG SHARE DENTS OWN ALLOWED PLANE);
const SOLID: &[(&str, u32)] = &entries!(solid "SOLID_":
    FORM SHAPE MOTION MOTIONS BORDER FRICTION RUBS_BY DENTS MEMBERSHIPS FILTER CENTRE EXTENT SWEEP RESTITUTION BOUNCES_BY
    ENTRIES
);
const MOTION: &[(&str, u32)] = &entries!(motion "MOTION_": ANCHOR OFFSET FRAME TURN BY GOES TURNS ABOUT ENTRIES);
const FORM: &[(&str, u32)] = &entries!(form "FORM_": SEGMENT CUBOID CYLINDER CONE CONVEX MESH);
const MESH: &[(&str, u32)] = &entries!(mesh "MESH_": ONE_SIDED NODE_COUNT ITEMS TRIANGLES POINTS ENTRIES);
const TRIANGLE: &[(&str, u32)] = &entries!(triangle "TRIANGLE_": ASKED ACROSS AROUND ENTRIES);
const SCRATCH: &[(&str, u32)] = &entries!(scratch "SCRATCH_":
    LOWER INV_PIVOT COUPLING RHS STEP BASE SIDES ENTRIES
);
const MEET: &[(&str, u32)] = &entries!(meet "MEET_":
    ALONG DIRECTION SCALE_TERM ARM GAP STIFFNESS FRICTION ANCHOR RUBS TURN_ANCHOR FORCE PULL COUPLE OVER_MASS ENTRIES OF_PAIRS
);
const SOLVED: &[(&str, u32)] = &entries!(solved "SOLVED_":
    STIFFNESS FRICTION SLIPPING WAY FORCE ROLLING COUPLE BEFORE CHANGE ENTRIES
);
const PARTNERS: &[(&str, u32)] = &entries!(partners "PARTNERS_": FIRST COUNT FIRST_PAIR UPPER LISTED ENTRIES);
const REST_WATCH: &[(&str, u32)] = &entries!(rest_watch "REST_WATCH_": STILL RECORDING BESIDE STIRRED ENTRIES);
const STIR: &[(&str, u32)] = &entries!(stir "STIR_": LOW HIGH ENTRIES);
const TALLIES: &[(&str, u32)] = &entries!(tallies "TALLIES_": FOUND ROOM FIRST);
const TALLY: &[(&str, u32)] = &entries!(tally "TALLY_": NEXT INSTANCE CHAIN OTHER IMPULSE PUSH ENTRIES PLANE SOLID);
const REACTION: &[(&str, u32)] = &entries!(reaction "REACTION_": FORCE COUPLE ENTRIES);
const HELD: &[(&str, u32)] = &entries!(held "HELD_": RHS BLOCK COUPLING ENTRIES);
const TREE: &[(&str, u32)] = &entries!(tree "TREE_":
    CHAIN STEM STEM_NODE NODE FIRST NEXT ROOT FOLLOWING LEVEL STUMP PLACE FRAME COUNT
);
const BORNE: &[(&str, u32)] = &entries!(borne "BORNE_": RHS BLOCK);
const STUMP: &[(&str, u32)] = &entries!(stump "STUMP_": RHS BLOCK COUPLING ARM OUTWARD BORNE);
const SIZES: &[(&str, u32)] = &[
    ("LANES", LANES),
    ("WORKGROUP_SIZE", WORKGROUP_SIZE),
    ("MAX_WORKGROUPS", MAX_WORKGROUPS),
    ("POSE", POSE as u32),
    ("MAX_BONES", MAX_BONES as u32),
    ("UNKNOWNS", UNKNOWNS as u32),
    ("SHORTENINGS", SHORTENINGS),
    ("FURTHER", FURTHER),
    ("WANTED", WANTED as u32),
    ("LEVELS", LEVELS),
    ("LEVEL_OF_METRES", LEVEL_OF_METRES),
    ("CELLS_HEADER", CELLS_HEADER),
    ("CELLS_A_SEGMENT", CELLS_A_SEGMENT),
    ("NO_PAIR", NO_PAIR),
    ("CELLS_AROUND", CELLS_AROUND),
    ("PRESSING", PRESSING),
    ("PRESSING_WORDS", PRESSING_WORDS),
    ("NO_DELTAS", NO_DELTAS),
    ("NETWORK_GROUP", NETWORK_GROUP),
    ("BLOCK_NUMBERS", BLOCK_NUMBERS),
    ("FORGETS", FORGETS),
    ("OWN_CHAINS", OWN_CHAINS),
    ("WITHIN_CHAINS", WITHIN_CHAINS),
    ("TOUCHES", TOUCHES),
    ("CONVEX_ENTRIES", CONVEX_ENTRIES),
    ("BOX_NODE_ENTRIES", BOX_NODE_ENTRIES),
    ("BOX_ITEM_ENTRIES", BOX_ITEM_ENTRIES),
    ("TOUCH_SOLID", touch::SOLID as u32),
    ("TOUCHES_RECORDING", touch::RECORDING as u32),
    ("TOUCHES_NEAR", touch::NEAR as u32),
    ("NO_RULE", NO_RULE),
    ("RUBS_BY", RUBS.rule as u32),
    ("BISECTIONS", BISECTIONS),
    ("NEAR_CHAIN", NEAR_CHAIN),
];

/// Every whole constant that a shader may declare under the same name.
pub const CONSTANTS: &[&[(&str, u32)]] = &[
    SIZES, REST, TREE, NODE, INPUT, FORCE, PLANE, CHAIN, CONTACT, REACTION, SCRATCH, HELD, BORNE, STUMP, MEET, SOLVED,
    PARTNERS, TANGENT, SOLID, MOTION, FORM, MESH, TRIANGLE, REST_WATCH, STIR, TALLIES, TALLY,
];

/// Every other constant that a shader may declare under the same name.
pub const FLOAT_CONSTANTS: &[(&str, f32)] = &[
    ("EPSILON", f32::EPSILON),
    ("MIN_POSITIVE", f32::MIN_POSITIVE),
    ("SCALE_LIMIT", SCALE_LIMIT),
    ("SLENDER", SLENDER),
    ("SLENDER_KEPT", SLENDER_KEPT),
    ("MOST_KEPT", MOST_KEPT),
    ("LEAST_COSINE", LEAST_COSINE),
    ("LEAST_SLOPE2", LEAST_SLOPE2),
    ("RESOLVED", RESOLVED),
    ("TOE", TOE),
    ("SHORT", SHORT),
    ("PUSH", PUSH),
    ("TRACE", TRACE),
    ("LEAST_LENGTH", LEAST_LENGTH),
    ("ALONG", ALONG),
    ("OFF_JOINT", OFF_JOINT),
    ("FOLD", FOLD),
    ("FARTHEST2", FARTHEST2),
    ("RESTING", RESTING),
    ("GAUSS_EARLY", GAUSS[0]),
    ("GAUSS_MIDDLE", GAUSS[1]),
    ("GAUSS_LATE", GAUSS[2]),
    ("LEAST_PIVOT", LEAST_PIVOT),
    ("LEAST_SHARE", LEAST_SHARE),
    ("ENOUGH", ENOUGH),
    ("URGENT", URGENT),
    ("ROUGH", ROUGH),
    ("PIVOT_ROUNDINGS", PIVOT_ROUNDINGS),
    ("ALIGNED", ALIGNED),
    ("MOST_ROUNDING", MOST_ROUNDING),
    ("STIFFENED", STIFFENED),
    ("THIN", THIN),
    ("TRUSTED", TRUSTED),
    ("STEEPER", STEEPER),
    ("LEAST_DIVISOR", LEAST_DIVISOR),
    ("MOST_TURN2", MOST_TURN2),
    ("MOST_GAIN", MOST_GAIN),
    ("CROSSED", CROSSED),
    ("ROCKS", ROCKS),
    ("LEVEL", LEVEL),
    ("ALONGSIDE", ALONGSIDE),
    ("MEETING", MEETING),
    ("HANDS_OVER", HANDS_OVER),
    ("GIVES_WAY", GIVES_WAY),
    ("FARTHEST", FARTHEST),
    ("YIELDS", YIELDS),
    ("LET_IN", LET_IN),
    ("PAST", PAST),
    ("APART", APART),
    ("CARRIED_APART", CARRIED_APART),
    ("RUBS", RUBS.value),
    ("ROLLS", ROLLS),
    ("ROLLING", ROLLING),
    ("DEEP", DEEP[0]),
    ("SHALLOW", DEEP[1]),
    ("PAIR_STOPS", find_meetings::STOPS),
    ("MOST_RATIO", MOST_RATIO),
    ("STEADY", STEADY),
    ("SHORTEST", SHORTEST),
    ("MOVES", MOVES),
    ("SOFTENS", SOFTENS),
    ("STIFFENS", STIFFENS),
    ("AS_GOOD", AS_GOOD),
    ("MOST_OUTPUT", MOST_OUTPUT),
    ("GOES_ON", GOES_ON),
    ("MOST_GIVEN", MOST_GIVEN),
    ("MOST_LEFT_OUT", MOST_LEFT_OUT),
    ("LEAST_GIVEN", LEAST_GIVEN),
    ("LIES", LIES),
    ("LYING_GIVEN", LYING_GIVEN),
    ("SLENDEREST", SLENDEREST),
    ("LEAST_SCALE", LEAST_SCALE),
    ("MOST_SCALE", MOST_SCALE),
    ("PENALTY", PENALTY),
    ("MOST_DUAL", MOST_DUAL),
    ("PULLED", PULLED),
    ("GENTLY", GENTLY),
    ("LET_THROUGH", LET_THROUGH),
    ("AMISS", AMISS),
    ("STIFFEST", STIFFEST),
    ("STOPS", STOPS),
    ("STICKING", STICKING),
    ("AMPLE", AMPLE),
    ("FIRM", FIRM),
    ("FIRMEST", FIRMEST),
    ("SQUEEZED", SQUEEZED),
    ("MOST_LOAD", MOST_LOAD),
    ("DEEPER", DEEPER as f32),
    ("SLACK", SLACK),
    ("MOST_REACH", MOST_REACH as f32),
    ("FLAT", FLAT as f32),
    ("KINK", KINK),
    ("EDGE_SLACK", EDGE_SLACK),
    ("ROUNDED", ROUNDED as f32),
    ("ALIKE", ALIKE),
    ("FOLLOWS", FOLLOWS as f32),
    ("MOST_TURN", MOST_TURN as f32),
    ("MOST_FRICTION", MOST_FRICTION),
    ("RECOVERY_SPEED", RECOVERY_SPEED),
    ("LEAST_BOUNCE", LEAST_BOUNCE),
    ("STILL_COMES", STILL_COMES),
    ("LONGEST_STOP", LONGEST_STOP),
    ("MOST_STRETCH", MOST_STRETCH),
    ("MOST_OFF", MOST_OFF),
    ("MOST_SWELLING", MOST_SWELLING),
    ("LEAST_TURN_DOT2", LEAST_TURN_DOT2),
    ("JERKED_HASTE", JERKED_HASTE),
    ("LEAST_FILL", LEAST_FILL),
    ("TAUT", TAUT),
    ("PLACES_ROUND", PLACES_ROUND),
    ("LIMP", LIMP),
    ("FOLDED", FOLDED),
    ("PATIENCE", PATIENCE),
    ("SHAPE_HASTE", SHAPE_HASTE),
    ("FINITE", FINITE),
    ("WITHIN_REACH", WITHIN_REACH),
    ("EVER", rest_watch::EVER),
    ("LEAST_FRAMES", rest_watch::LEAST_FRAMES),
    ("SLEEPS_NOW", sleeps::NOW),
    ("SLEPT_BEFORE", sleeps::BEFORE),
];
