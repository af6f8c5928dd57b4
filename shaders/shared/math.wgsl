// Vectors, quaternions (x, y, z, w) and symmetric matrices; the twin of src/cpu/math.rs and src/cpu/lanes.rs.

alias Quaternion = vec4<f32>;
// A 3×3 matrix that equals its transpose.
alias Sym3 = mat3x3<f32>;
// A 3×3 matrix by rows.
alias Mat3 = array<vec3<f32>, 3>;

// One unit in the last place of 1, and the least number of full precision.
const EPSILON: f32 = 1.1920929e-7;
const MIN_POSITIVE: f32 = 1.1754944e-38;

// The least that a quotient is divided by which is divided again: drivers may divide by the product of both instead, and drop what is
// less than MIN_POSITIVE.
const LEAST_DIVISOR: f32 = 1.0e-18;

// The largest factor by which a scale may change in one substep, either way.
const SCALE_LIMIT: f32 = 1.3;

// `a` where `value < other`, else `b` (also where either is NaN).
fn where_less(value: f32, other: f32, a: f32, b: f32) -> f32 {
    return select(b, a, value < other);
}

fn smaller(a: f32, b: f32) -> f32 {
    return where_less(a, b, a, b);
}

fn larger(a: f32, b: f32) -> f32 {
    return where_less(b, a, a, b);
}

fn between(value: f32, low: f32, high: f32) -> f32 {
    return smaller(larger(value, low), high);
}

fn conjugate(q: Quaternion) -> Quaternion {
    return Quaternion(-q.x, -q.y, -q.z, q.w);
}

// A vector's direction, of length 1; of a vector of no length, nothing.
fn direction(v: vec3<f32>) -> vec3<f32> {
    return v * (1.0 / larger(sqrt(dot(v, v)), 1.0e-12));
}

// The Hamilton product: `o` first, then `q`.
fn product(q: Quaternion, o: Quaternion) -> Quaternion {
    return Quaternion(
        q.w * o.x + q.x * o.w + q.y * o.z - q.z * o.y,
        q.w * o.y - q.x * o.z + q.y * o.w + q.z * o.x,
        q.w * o.z + q.x * o.y - q.y * o.x + q.z * o.w,
        q.w * o.w - q.x * o.x - q.y * o.y - q.z * o.z,
    );
}

// Over its length. A step of Newton's makes up for what root and quotient round, by some units on a GPU: a frame of another length
// strains what is stiff.
fn normalised(q: Quaternion) -> Quaternion {
    let near = q * (1.0 / sqrt(dot(q, q)));
    return near + near * (0.5 - 0.5 * dot(near, near));
}

// The columns u, v, w of the rotation matrix.
fn axes_of(q: Quaternion) -> mat3x3<f32> {
    let twice = q.xyz + q.xyz;
    let xx = q.x * twice.x;
    let yy = q.y * twice.y;
    let zz = q.z * twice.z;
    let xy = q.x * twice.y;
    let xz = q.x * twice.z;
    let yz = q.y * twice.z;
    let wx = q.w * twice.x;
    let wy = q.w * twice.y;
    let wz = q.w * twice.z;
    return mat3x3<f32>(
        vec3<f32>(1.0 - (yy + zz), xy + wz, xz - wy),
        vec3<f32>(xy - wz, 1.0 - (xx + zz), yz + wx),
        vec3<f32>(xz + wy, yz - wx, 1.0 - (xx + yy)),
    );
}

fn rotate(q: Quaternion, v: vec3<f32>) -> vec3<f32> {
    let axes = axes_of(q);
    return axes[0] * v.x + axes[1] * v.y + axes[2] * v.z;
}

// Turned by the Cayley map of a world rotation vector φ: angle 2·atan(|φ|/2), so never past π and without
// transcendentals; turn_to undoes it exactly.
fn turned(q: Quaternion, phi: vec3<f32>) -> Quaternion {
    return normalised(product(Quaternion(phi * 0.5, 1.0), q));
}

// The world rotation vector that `turned` needs to get from `q` to `to`, by the shorter way.
fn turn_to(q: Quaternion, to: Quaternion) -> vec3<f32> {
    let relative = product(to, conjugate(q));
    let tiny = 1.0e-6;
    let w = where_less(relative.w, 0.0, smaller(relative.w, -tiny), larger(relative.w, tiny));
    return relative.xyz * (2.0 / w);
}

// The same rotation by the one of both quaternions that is nearer to another one.
fn beside(q: Quaternion, other: Quaternion) -> Quaternion {
    return q * where_less(dot(q, other), 0.0, -1.0, 1.0);
}

// Whether a value is finite, by its bits: compilers may take it that every value is.
fn is_number(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
}

// The square of the most that what turns in a time step goes on turning by, by turn_to: a quarter turn. What has turned by
// more goes on by less.
const MOST_TURN2: f32 = 4.0;

// As turn_to, of what turns in a time step and is to go on so.
fn turn_on(q: Quaternion, to: Quaternion) -> vec3<f32> {
    let turn = turn_to(q, to);
    return turn * (MOST_TURN2 / larger(dot(turn, turn), MOST_TURN2));
}

// Turned the shortest way so that its w lies along a direction, which need not be a unit vector.
fn turned_along(q: Quaternion, path: vec3<f32>) -> Quaternion {
    let w = axes_of(q)[2];
    // Against w there is no shortest way.
    let cosine = larger(sqrt(dot(path, path)) + dot(w, path), 1.0e-3);
    return normalised(product(Quaternion(cross(w, path), cosine), q));
}

// From `q` (α = 0) to `to` (α = 1) by the shorter way, normalised linear interpolation.
fn blend(q: Quaternion, to: Quaternion, alpha: f32) -> Quaternion {
    let near = where_less(dot(q, to), 0.0, -alpha, alpha);
    return normalised(q * (1.0 - alpha) + to * near);
}

// `isotropic·I + axial·w wᵀ`.
fn sym_transverse(isotropic: f32, axial: f32, w: vec3<f32>) -> Sym3 {
    let a = axial * w;
    return Sym3(
        vec3<f32>(isotropic + a.x * w.x, a.x * w.y, a.x * w.z),
        vec3<f32>(a.x * w.y, isotropic + a.y * w.y, a.y * w.z),
        vec3<f32>(a.x * w.z, a.y * w.z, isotropic + a.z * w.z),
    );
}

// `uu·u uᵀ + vv·v vᵀ + uv·(u vᵀ + v uᵀ) + ww·w wᵀ`.
fn sym_from_axes(axes: mat3x3<f32>, uu: f32, vv: f32, uv: f32, ww: f32) -> Sym3 {
    let u = axes[0];
    let v = axes[1];
    let w = axes[2];
    let a = u * uu + v * uv;
    let b = u * uv + v * vv;
    let c = w * ww;
    let xx = a.x * u.x + b.x * v.x + c.x * w.x;
    let yy = a.y * u.y + b.y * v.y + c.y * w.y;
    let zz = a.z * u.z + b.z * v.z + c.z * w.z;
    let xy = a.x * u.y + b.x * v.y + c.x * w.y;
    let xz = a.x * u.z + b.x * v.z + c.x * w.z;
    let yz = a.y * u.z + b.y * v.z + c.y * w.z;
    return Sym3(vec3<f32>(xx, xy, xz), vec3<f32>(xy, yy, yz), vec3<f32>(xz, yz, zz));
}

// Spin about an axis of less than about this part of the inertia's trace counts as motion within the chain.
const SLENDER: f32 = 0.005;
// What counts as motion within a chain, see SLENDER, where its sections spin with it: little over the √ε of its inertia's trace.
const SLENDEREST: f32 = 5.0e-4;
// As that, of what a calm substep took.
const SLENDER_KEPT: f32 = 0.025;

// The spin that has an angular momentum: Ω = I⁻¹L, but for what is nearly an axis of no inertia: Ω = (I² + (slender·tr I)²)⁻¹ I L.
// No inertia gives no spin.
fn spin_of(inertia: Mat3, angular: vec3<f32>, slender: f32) -> vec3<f32> {
    let trace = inertia[0].x + inertia[1].y + inertia[2].z;
    let inv_trace = 1.0 / where_less(0.0, trace, trace, 1.0);
    let a = inertia[0] * inv_trace;
    let b = inertia[1] * inv_trace;
    let c = inertia[2] * inv_trace;
    let scaled = angular * inv_trace;
    let rhs = vec3<f32>(dot(a, scaled), dot(b, scaled), dot(c, scaled));
    let least = slender * slender;

    // LDLᵀ; every pivot is at least slender² but for rounding.
    let d0 = 1.0 / (dot(a, a) + least);
    let l10 = dot(b, a) * d0;
    let l20 = dot(c, a) * d0;
    let d1 = 1.0 / larger(dot(b, b) + least - l10 * dot(b, a), least);
    let m21 = dot(c, b) - l20 * dot(b, a);
    let l21 = m21 * d1;
    let d2 = 1.0 / larger(dot(c, c) + least - l20 * dot(c, a) - l21 * m21, least);
    let forward_y = rhs.y - l10 * rhs.x;
    let forward_z = rhs.z - l20 * rhs.x - l21 * forward_y;
    let z = forward_z * d2;
    let y = forward_y * d1 - l21 * z;
    let x = rhs.x * d0 - l10 * y - l20 * z;
    return vec3<f32>(x, y, z);
}
