// How chains that hang on each other move as one rigid body: what damping leaves alone; the twin of src/cpu/tree_motion.rs. What is
// given to all of them is in left_out.wgsl.

// Tells the others of the chain as a body: 16 numbers.
fn tell_body(local: u32, body: Body) {
    tell(local, 0u, body.mass);
    tell3(local, 1u, body.centre);
    tell3(local, 4u, body.velocity);
    tell3(local, 7u, body.angular);
    tell3(local, 10u, body.inertia[0]);
    tell(local, 13u, body.inertia[1].y);
    tell(local, 14u, body.inertia[1].z);
    tell(local, 15u, body.inertia[2].z);
}

fn told3(local: u32, entry: u32) -> vec3<f32> {
    return vec3<f32>(told[entry][local], told[entry + 1u][local], told[entry + 2u][local]);
}

// Where the root of the chain's tree has its origin.
fn root_origin(chain: Chain) -> vec3<f32> {
    return chain3(root_of(chain).chain, CHAIN_ORIGIN);
}

// What the chains of a tree have told of themselves as bodies, as one, from the root's origin.
fn body_of_tree(chain: Chain, local: u32) -> Body {
    let origin = root_origin(chain);
    let count = member_count(chain);
    var sum = Body();
    var member = chain;
    for (var k = 0u; k < count; k++) {
        member = member_of_tree(chain, k, member);
        let at = local_of(chain, local, member);
        let m = told[0][at];
        sum.mass = sum.mass + m;
        sum.centre = sum.centre + (told3(at, 1u) + (chain3(member.chain, CHAIN_ORIGIN) - origin)) * m;
        sum.velocity = sum.velocity + told3(at, 4u) * m;
    }
    let inv_mass = 1.0 / where_less(0.0, sum.mass, sum.mass, 1.0);
    sum.centre = sum.centre * inv_mass;
    sum.velocity = sum.velocity * inv_mass;
    for (var k = 0u; k < count; k++) {
        member = member_of_tree(chain, k, member);
        let at = local_of(chain, local, member);
        let m = told[0][at];
        let arm = told3(at, 1u) + (chain3(member.chain, CHAIN_ORIGIN) - origin) - sum.centre;
        sum.angular = sum.angular + told3(at, 7u) + cross(arm, told3(at, 4u) - sum.velocity) * m;
        let around = with_mass_at(sum.inertia, m, arm);
        let xy = told[11][at];
        let xz = told[12][at];
        let yz = told[14][at];
        sum.inertia[0] = around[0] + told3(at, 10u);
        sum.inertia[1] = around[1] + vec3<f32>(xy, told[13][at], yz);
        sum.inertia[2] = around[2] + vec3<f32>(xz, yz, told[15][at]);
    }
    return sum;
}

// A motion from the root's origin, from the chain's own.
fn from_own_origin(chain: Chain, motion: RigidMotion) -> RigidMotion {
    let shift = chain3(chain.chain, CHAIN_ORIGIN) - root_origin(chain);
    return RigidMotion(motion.centre - shift, motion.velocity, motion.spin);
}
