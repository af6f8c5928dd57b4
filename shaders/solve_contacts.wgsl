// Stage solve_contacts: which planes the nodes' spheres touch, how hard, and how much friction that allows; the twin of
// src/cpu/solve_contacts.rs, which says why.

// β: contact stiffness over m/h² (1).
const CONTACT_STIFFNESS: f32 = 1000.0;

// How fast a node that is found inside a plane is pushed out (m/s).
const RECOVERY_SPEED: f32 = 1.0;

// Finds each node's deepest plane and hands its terms to the next solve.
@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_contacts(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = chain_of(thread_of(invocation));
    if chain.node_count == 0u {
        return;
    }
    if !has_planes(chain) {
        for (var index = 0u; index < chain.node_count; index++) {
            let row = node_row_of(chain, index);
            set_node(row, NODE_CONTACT_STIFFNESS, 0.0);
            set_node(row, NODE_FRICTION_LIMIT, 0.0);
        }
        return;
    }
    let inv_h = params.inv_h;
    let recovery = RECOVERY_SPEED * params.h;
    let inv_step = inv_h * (1.0 + second_order_of(chain) * 0.5);
    let inv_step2 = inv_step * inv_step;
    var stored = chain_at(chain.chain, CHAIN_START_POTENTIAL);
    for (var index = 0u; index < chain.node_count; index++) {
        let rest_row = rest_row_of(chain, index);
        let row = node_row_of(chain, index);
        let start = placed_start(chain, index);
        let before = contact_potential(inv_step2, rest_row, row, start);
        let place = node3(row, NODE_PLACE);
        let moved = node3(row, NODE_MOVED);
        let radius = rest_at(rest_row, REST_RADIUS) * node_at(row, NODE_SCALE);
        let pressed = node_at(row, NODE_CONTACT_STIFFNESS) * larger(0.0 - contact_gap(rest_row, row, placed_now(row)), 0.0);
        let stiffness = CONTACT_STIFFNESS * weight_of(rest_row, REST_MASS) * inv_h * inv_h;

        let far = 1.0e30;
        var gap = far;
        var normal = vec3<f32>();
        var offset = 0.0;
        var friction = 0.0;
        for (var plane = 0u; plane < INPUT_MAX_PLANES; plane++) {
            let at = INPUT_PLANES + plane * INPUT_PLANE;
            let plane_normal = input3(chain.input, at);
            let plane_offset = input_at(chain.input, at + 3u);
            let distance = dot(plane_normal, place) - plane_offset - radius;
            let plane_gap = where_less(0.0, dot(plane_normal, plane_normal), distance, far);
            if plane_gap < gap {
                normal = plane_normal;
                offset = plane_offset;
                friction = input_at(chain.input, at + 4u);
                gap = plane_gap;
            }
        }

        // Flesh between two held ends goes where its bones carry it, into the plane too.
        let carried = dot(normal, node3(row, NODE_TARGET_PLACE)) - offset - rest_at(rest_row, REST_RADIUS);
        let allowed = smaller(carried, 0.0) * rest_at(rest_row, REST_CARRIED);
        gap = gap - allowed;

        // A node that reaches the plane within the next substep is told now.
        let approach = dot(normal, moved);
        let reach = smaller(gap, gap + approach + approach);
        let pressing = where_less(reach, 0.0, stiffness, 0.0);
        let depth = smaller(gap + recovery, 0.0);
        set_node3(row, NODE_CONTACT_NORMAL, normal);
        set_node(row, NODE_CONTACT_OFFSET, offset + allowed + depth);
        set_node(row, NODE_CONTACT_STIFFNESS, pressing);
        set_node(row, NODE_FRICTION_LIMIT, friction * pressed);
        stored = stored + (contact_potential(inv_step2, rest_row, row, start) - before);
    }
    set_chain(chain.chain, CHAIN_START_POTENTIAL, stored);
}
