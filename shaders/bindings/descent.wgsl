// How chains go down Π: which steps are kept, shortened and followed by others; the twin of src/cpu/descent.rs.

// The least share of a step that a shorter one is taken for.
const LEAST_SHARE: f32 = 0.1;
// How often a step is shortened before the chain stays where it is.
const SHORTENINGS: u32 = 6u;
// Which share of the foretold fall of Π is enough not to take another step.
const ENOUGH: f32 = 0.5;
// How many steps a chain that meets others goes on by beyond those of the configuration where it is URGENT.
const FURTHER: u32 = 8u;
// What a step makes Π fall by over its motion, and by more than rounding, where that may not be left to the next substep.
const URGENT: f32 = 1.0;
// By which share of its diagonal a system is stiffened whose last step led nowhere.
const STIFFENED: f32 = 1.0e-4;

fn inv_step2_of(chain: Chain) -> f32 {
    let inv_step = params.inv_h * (1.0 + second_order_of(chain) * 0.5);
    return inv_step * inv_step;
}

// How far a chain, or a tree, has come; see src/cpu/descent.rs. Flags are 1 where they hold and 0 where not.
struct Descent {
    at_start: f32,
    lowest: f32,
    fall: f32,
    far: f32,
    amiss: f32,
    share: f32,
    astray: f32,
    rough: f32,
    stiffened: f32,
    // Whether a step has led up.
    overshot: bool,
    // Whether it began again and has made no whole step since: with what its rows press it is not in balance.
    adrift: bool,
    meets: f32,
    solves: u32,
    shortenings: u32,
    // Whether another step, or another share of one, is to be taken, and whether from the substep's start.
    stepping: bool,
    starts_again: bool,
    // Whether that share of the further step is kept.
    keeps: bool,
}

// What it has reached (J): Π, what of it is stored, and by how much it may seem to grow for rounding.
struct Reached {
    level: f32,
    stored: f32,
    gained: f32,
    motion: f32,
    unsure: f32,
}

// Before the first step.
fn descent_of(chain: Chain) -> Descent {
    var descent: Descent;
    descent.at_start = chain_at(chain.chain, CHAIN_START_POTENTIAL) + stored_by_contacts(chain, true);
    descent.lowest = descent.at_start;
    descent.share = 1.0;
    descent.stepping = true;
    descent.meets = where_less(0.0, stiffness_of_meetings(chain), 1.0, 0.0);
    return descent;
}

// By which share of a further step rows come to press otherwise: by what is taken of it, where passes go on from that. What meets no other,
// or is adrift, only remembers it, and that as if it had taken all of it.
fn share_pressed(descent: Descent) -> f32 {
    return select(1.0, descent.share, descent.meets > 0.5 && !descent.adrift);
}

// Whether it is solved again, and how.
fn again_of(descent: Descent) -> Again {
    return Again(descent.solves > 0u, descent.stiffened, descent.overshot);
}

// What the chain has reached now.
fn reached_by(chain: Chain, inv_step2: f32, contracting: bool, excitation: Excitation) -> Reached {
    let standing = standing(chain, inv_step2, contracting, excitation);
    // Of what is reached now: of a step that led far astray, it would hide whatever a shorter one does.
    let unsure = rounding(chain, inv_step2, standing);
    return Reached(level(standing), whole(standing.stored), standing.gained, standing.motion, unsure);
}

// Judges what a step has reached, and shortens it where that is higher.
fn judge(descent: ptr<function, Descent>, reached: Reached) {
    (*descent).starts_again = false;
    (*descent).keeps = false;
    if (*descent).solves == 0u {
        let raised = risen_by(reached.level - (*descent).at_start, reached.unsure);
        let grown = risen_by(reached.stored + reached.gained - (*descent).at_start, reached.unsure);
        (*descent).astray = larger(grown, raised);
        (*descent).rough = larger((*descent).astray, (*descent).far);
        if larger((*descent).rough, (*descent).amiss) < 0.5 || params.retries == 0u {
            (*descent).stepping = false;
            return;
        }
        (*descent).lowest = where_less(raised, 0.5, reached.level, (*descent).at_start);
        (*descent).solves = 1u;
        (*descent).starts_again = raised > 0.5;
        (*descent).overshot = raised > 0.5;
        (*descent).adrift = raised > 0.5;
        return;
    }
    let rise = reached.level - (*descent).lowest;
    if (*descent).shortenings <= SHORTENINGS && risen_by(rise, reached.unsure) > 0.5 {
        // The least of the parabola through both levels that begins with the slope −2·fall; in the end, nothing.
        let foretold = (*descent).fall * (*descent).share;
        let bend = larger(rise + foretold + foretold, MIN_POSITIVE);
        let shorter = (*descent).share * between(foretold / bend, LEAST_SHARE, 0.5);
        (*descent).share = select(0.0, shorter, (*descent).shortenings < SHORTENINGS);
        (*descent).shortenings++;
        return;
    }
    let short = where_less(0.0 - rise, (*descent).fall * ENOUGH, 1.0, 0.0);
    (*descent).keeps = true;
    (*descent).adrift = (*descent).adrift && (*descent).share < 1.0;
    (*descent).stiffened = where_less((*descent).share, LEAST_SHARE, STIFFENED, (*descent).stiffened);
    (*descent).overshot = (*descent).overshot || (*descent).share < 1.0;
    (*descent).lowest = reached.level;
    // Of friction, passes of chains that meet others make up for what one more did not.
    let amiss = select((*descent).amiss, (*descent).amiss - 1.0, (*descent).meets > 0.5);
    let little = larger(reached.motion * URGENT, reached.unsure);
    let urgent = (*descent).meets > 0.5 && little < (*descent).fall;
    let ends = (*descent).solves >= params.retries && (!urgent || (*descent).solves == params.retries + FURTHER);
    if ends || larger(larger(short, (*descent).far), amiss) < 0.5 {
        (*descent).stepping = false;
    }
    (*descent).solves++;
    (*descent).shortenings = 0u;
}

// Notes how it ended.
fn end(chain: Chain, descent: Descent, reached: Reached, contracting: bool, inv_step2: f32) {
    let left = larger(reached.motion - reached.gained - (reached.stored - descent.at_start), 0.0);
    let share = sqrt(left / larger(reached.motion, MIN_POSITIVE));
    var kept = where_less(left, reached.motion, share, 1.0);
    // What chains that meet give each other is no one's growth, and would be lost to both.
    kept = where_less(0.5, descent.meets, 1.0, kept);
    set_chain(chain.chain, CHAIN_CALM, where_less(descent.astray, 0.5, 1.0, kept));
    var rough = larger(descent.rough, chain_at(chain.chain, CHAIN_ROUGH));
    set_chain(chain.chain, CHAIN_MEETS, descent.meets);
    // Of what took nothing of its last step the system is no good, or no number.
    if params.passes > 0u && (descent.adrift || descent.share <= 0.0) {
        sit_out(chain);
        // With what its rows would press is not known.
        rough = larger(rough, descent.meets);
    }
    set_chain(chain.chain, CHAIN_ROUGH, rough);
    // What is stiffer than its step resolves hangs on the step; of chains that hang on each other it is of all of them.
    let stiff = is_stiff(chain, inv_step2) || IN_TREES;
    let touching = row_count_of(chain) > 0u || descent.meets > 0.5;
    // What slides, or turns with the path, will be held elsewhere.
    let elastic_alone = !(contracting || stiff || touching || is_turning(chain));
    set_chain(chain.chain, CHAIN_POTENTIAL, select(-1.0, reached.stored, elastic_alone));
}

// Whether the chain slides in its bed, or something that holds it turns with the path.
fn is_turning(chain: Chain) -> bool {
    for (var index = 0u; index < chain.node_count; index++) {
        if rest_at(rest_row_of(chain, index), REST_TURNS) > 0.5 {
            return true;
        }
    }
    return rest_at(rest_row_of(chain, 0u), REST_SLIDES_IN_BED) > 0.5;
}

// Flags whether the chain has risen, or is no longer a number.
fn risen_by(by: f32, unsure: f32) -> f32 {
    return select(1.0, 0.0, is_number(by) && by < unsure);
}

// Puts the chain back to the substep's start.
fn start_again(chain: Chain) {
    for (var index = 0u; index < chain.node_count; index++) {
        store_placed(placed_start(chain, index), node_row_of(chain, index));
    }
}

// Keeps where the chain is, for go_on.
fn keep(chain: Chain) {
    for (var index = 0u; index < chain.node_count; index++) {
        let now = placed_now(node_row_of(chain, index));
        let row = scratch_row_of(chain, index);
        set_scratch3(row, SCRATCH_BASE, now.moved);
        set_scratch(row, SCRATCH_BASE + 3u, now.scale);
        set_scratch4(row, SCRATCH_BASE + 4u, now.frame);
    }
}

// Puts the chain where a share of the last solve's step takes it from where it was kept.
fn go_on(chain: Chain, share: f32) {
    for (var index = 0u; index < chain.node_count; index++) {
        let scratch_row = scratch_row_of(chain, index);
        let base = placed_base(scratch_row);
        var delta = step_of(scratch_row);
        for (var k = 0u; k < UNKNOWNS; k++) {
            delta[k] = share * delta[k];
        }
        let row = node_row_of(chain, index);
        // A step that is no number has no share.
        if share > 0.0 {
            store_placed(step_by(row, base, &delta), row);
        } else {
            store_placed(base, row);
        }
    }
}
