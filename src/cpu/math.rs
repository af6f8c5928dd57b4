//! Vectors and quaternions of lanes; its twin is `shaders/shared/math.wgsl`.

use std::ops::{Add, Mul, Neg, Sub};

use super::lanes::{Entry, Lane, Lanes};

/// The square of the most that a node goes on turning by in a substep, by [`Quaternion::turn_to`]: a quarter turn. What has
/// turned by more goes on by less: beyond half a turn it would seem to turn the other way, and close to it a rate of turning
/// is anything.
pub const MOST_TURN2: f32 = 4.0;

/// The least that a quotient is divided by which is divided again: a GPU's driver may divide by the product of both instead, and drop
/// what is less than [`f32::MIN_POSITIVE`].
pub const LEAST_DIVISOR: f32 = 1.0e-18;

/// Three numbers.
#[derive(Clone, Copy, Debug)]
pub struct V3<V>(pub [V; 3]);

/// A quaternion (x, y, z, w).
#[derive(Clone, Copy, Debug)]
pub struct Quaternion<V>(pub [V; 4]);

/// A symmetric 3×3 matrix: xx, yy, zz, xy, xz, yz.
#[derive(Clone, Copy, Debug)]
pub struct Sym3<V>(pub [V; 6]);

/// A 3×3 matrix by rows.
pub type Mat3<V> = [[V; 3]; 3];

impl<V: Lane> Add for V3<V> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self([self.0[0] + o.0[0], self.0[1] + o.0[1], self.0[2] + o.0[2]])
    }
}

impl<V: Lane> Sub for V3<V> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self([self.0[0] - o.0[0], self.0[1] - o.0[1], self.0[2] - o.0[2]])
    }
}

impl<V: Lane> Neg for V3<V> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self([-self.0[0], -self.0[1], -self.0[2]])
    }
}

impl<V: Lane> Mul<V> for V3<V> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, k: V) -> Self {
        Self([self.0[0] * k, self.0[1] * k, self.0[2] * k])
    }
}

impl<V: Lane> Add for Quaternion<V> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self([self.0[0] + o.0[0], self.0[1] + o.0[1], self.0[2] + o.0[2], self.0[3] + o.0[3]])
    }
}

impl<V: Lane> V3<V> {
    /// Itself where `flag` is below ½, else `other`.
    #[inline(always)]
    pub fn or<L: Lanes<V = V>>(mut self, lanes: L, other: Self, flag: V) -> Self {
        for k in 0..3 {
            self.0[k] = flag.where_less(lanes.splat(0.5), self.0[k], other.0[k]);
        }
        self
    }

    /// Reads three entries of a row.
    #[inline(always)]
    pub fn load<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>], at: usize) -> Self {
        Self([lanes.load(&row[at]), lanes.load(&row[at + 1]), lanes.load(&row[at + 2])])
    }

    /// Writes three entries of a row.
    #[inline(always)]
    pub fn store<L: Lanes<V = V>>(self, lanes: L, row: &mut [Entry<L::Scalar>], at: usize) {
        lanes.store(self.0[0], &mut row[at]);
        lanes.store(self.0[1], &mut row[at + 1]);
        lanes.store(self.0[2], &mut row[at + 2]);
    }

    /// The scalar product.
    #[inline(always)]
    pub fn dot(self, o: Self) -> V {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2]
    }

    /// Its length.
    #[inline(always)]
    pub fn length(self) -> V {
        self.dot(self).sqrt()
    }

    /// Its direction, of length 1; of a vector of no length, nothing.
    #[inline(always)]
    pub fn direction<L: Lanes<V = V>>(self, lanes: L) -> Self {
        self * (lanes.splat(1.0) / self.dot(self).sqrt().max(lanes.splat(1.0e-12)))
    }

    /// The vector product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, o.0);
        Self([b * z - c * y, c * x - a * z, a * y - b * x])
    }
}

impl<V: Lane> Quaternion<V> {
    /// Reads four entries of a row.
    #[inline(always)]
    pub fn load<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>], at: usize) -> Self {
        Self([lanes.load(&row[at]), lanes.load(&row[at + 1]), lanes.load(&row[at + 2]), lanes.load(&row[at + 3])])
    }

    /// Writes four entries of a row.
    #[inline(always)]
    pub fn store<L: Lanes<V = V>>(self, lanes: L, row: &mut [Entry<L::Scalar>], at: usize) {
        for (k, value) in self.0.into_iter().enumerate() {
            lanes.store(value, &mut row[at + k]);
        }
    }

    /// The vector part.
    #[inline(always)]
    pub fn imaginary(self) -> V3<V> {
        V3([self.0[0], self.0[1], self.0[2]])
    }

    /// The conjugate; of a unit quaternion, the inverse.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        let [x, y, z, w] = self.0;
        Self([-x, -y, -z, w])
    }

    /// The scalar product.
    #[inline(always)]
    pub fn dot(self, o: Self) -> V {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2] + self.0[3] * o.0[3]
    }

    /// Every entry times a number.
    #[inline(always)]
    pub fn scale(self, k: V) -> Self {
        let [x, y, z, w] = self.0;
        Self([x * k, y * k, z * k, w * k])
    }

    /// The Hamilton product: `o` first, then `self`.
    #[inline(always)]
    pub fn product(self, o: Self) -> Self {
        let ([x, y, z, w], [a, b, c, d]) = (self.0, o.0);
        Self([
            w * a + x * d + y * c - z * b,
            w * b - x * c + y * d + z * a,
            w * c + x * b - y * a + z * d,
            w * d - x * a - y * b - z * c,
        ])
    }

    /// Over its length. A step of Newton's makes up for what root and quotient round, and GPUs round them by more: a frame of
    /// another length strains what is stiff.
    #[inline(always)]
    pub fn normalised<L: Lanes<V = V>>(self, lanes: L) -> Self {
        let near = self.scale(lanes.splat(1.0) / self.dot(self).sqrt());
        let half = lanes.splat(0.5);
        near + near.scale(half - half * near.dot(near))
    }

    /// The same rotation by the one of both quaternions that is nearer to another one.
    #[inline(always)]
    pub fn beside<L: Lanes<V = V>>(self, lanes: L, other: Self) -> Self {
        self.scale(self.dot(other).where_less(lanes.splat(0.0), lanes.splat(-1.0), lanes.splat(1.0)))
    }

    /// The columns u, v, w of the rotation matrix.
    #[inline(always)]
    pub fn axes<L: Lanes<V = V>>(self, lanes: L) -> [V3<V>; 3] {
        let [x, y, z, w] = self.0;
        let one = lanes.splat(1.0);
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, yy, zz) = (x * x2, y * y2, z * z2);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        [
            V3([one - (yy + zz), xy + wz, xz - wy]),
            V3([xy - wz, one - (xx + zz), yz + wx]),
            V3([xz + wy, yz - wx, one - (xx + yy)]),
        ]
    }

    /// Rotates a vector.
    #[inline(always)]
    pub fn rotate<L: Lanes<V = V>>(self, lanes: L, v: V3<V>) -> V3<V> {
        let [u, v_axis, w] = self.axes(lanes);
        u * v.0[0] + v_axis * v.0[1] + w * v.0[2]
    }

    /// Turned by the Cayley map of a world rotation vector φ: angle 2·atan(|φ|/2), so never past π and
    /// without transcendentals; [`Self::turn_to`] undoes it exactly.
    #[inline(always)]
    pub fn turned<L: Lanes<V = V>>(self, lanes: L, phi: V3<V>) -> Self {
        let half = phi * lanes.splat(0.5);
        let [x, y, z] = half.0;
        Self([x, y, z, lanes.splat(1.0)]).product(self).normalised(lanes)
    }

    /// The world rotation vector that [`Self::turned`] needs to get from here to `to`, by the shorter way.
    #[inline(always)]
    pub fn turn_to<L: Lanes<V = V>>(self, lanes: L, to: Self) -> V3<V> {
        let relative = to.product(self.conjugate());
        let w = relative.0[3];
        let tiny = lanes.splat(1.0e-6);
        let w = w.where_less(lanes.splat(0.0), w.min(-tiny), w.max(tiny));
        relative.imaginary() * (lanes.splat(2.0) / w)
    }

    /// As [`Self::turn_to`], of what turns in a time step and is to go on so: [`MOST_TURN2`] at most.
    #[inline(always)]
    pub fn turn_on<L: Lanes<V = V>>(self, lanes: L, to: Self) -> V3<V> {
        let turn = self.turn_to(lanes, to);
        let most = lanes.splat(MOST_TURN2);
        turn * (most / turn.dot(turn).max(most))
    }

    /// Turned the shortest way so that its w lies along a direction, which need not be a unit vector.
    #[inline(always)]
    pub fn turned_along<L: Lanes<V = V>>(self, lanes: L, path: V3<V>) -> Self {
        let w = self.axes(lanes)[2];
        let [x, y, z] = w.cross(path).0;
        // Against w there is no shortest way.
        let cosine = (path.dot(path).sqrt() + w.dot(path)).max(lanes.splat(1.0e-3));
        Self([x, y, z, cosine]).product(self).normalised(lanes)
    }

    /// Itself where `flag` is below ½, else `other`.
    #[inline(always)]
    pub fn or<L: Lanes<V = V>>(mut self, lanes: L, other: Self, flag: V) -> Self {
        for k in 0..4 {
            self.0[k] = flag.where_less(lanes.splat(0.5), self.0[k], other.0[k]);
        }
        self
    }

    /// From here (α = 0) to `to` (α = 1) by the shorter way, normalised linear interpolation.
    #[inline(always)]
    pub fn blend<L: Lanes<V = V>>(self, lanes: L, to: Self, alpha: V) -> Self {
        let dot = self.dot(to);
        let near = dot.where_less(lanes.splat(0.0), -alpha, alpha);
        (self.scale(lanes.splat(1.0) - alpha) + to.scale(near)).normalised(lanes)
    }
}

impl<V: Lane> Sym3<V> {
    /// The product with a vector.
    #[inline(always)]
    pub fn apply(self, v: V3<V>) -> V3<V> {
        let [xx, yy, zz, xy, xz, yz] = self.0;
        let [x, y, z] = v.0;
        V3([xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z])
    }

    /// The entry of row i and column j.
    #[inline(always)]
    pub fn get(self, i: usize, j: usize) -> V {
        const INDEX: [[usize; 3]; 3] = [[0, 3, 4], [3, 1, 5], [4, 5, 2]];
        self.0[INDEX[i][j]]
    }

    /// `isotropic·I + axial·w wᵀ`.
    #[inline(always)]
    pub fn transverse(isotropic: V, axial: V, w: V3<V>) -> Self {
        let [x, y, z] = w.0;
        let (ax, ay, az) = (axial * x, axial * y, axial * z);
        Self([isotropic + ax * x, isotropic + ay * y, isotropic + az * z, ax * y, ax * z, ay * z])
    }

    /// `uu·u uᵀ + vv·v vᵀ + uv·(u vᵀ + v uᵀ) + ww·w wᵀ`.
    #[inline(always)]
    pub fn from_axes(axes: [V3<V>; 3], uu: V, vv: V, uv: V, ww: V) -> Self {
        let [u, v, w] = axes;
        let a = u * uu + v * uv;
        let b = u * uv + v * vv;
        let c = w * ww;
        let mut sum = [ww; 6];
        for (entry, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            sum[entry] = a.0[i] * u.0[j] + b.0[i] * v.0[j] + c.0[i] * w.0[j];
        }
        Self(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::OneF32;
    use super::*;

    /// A frame that is turned and turned again stays of length 1, to 2.3·10⁻⁸ (root mean square) and 7.3·10⁻⁸ at worst: half a unit in
    /// the last place of its largest entry is up to 3·10⁻⁸. By root and quotient alone it is 4.6·10⁻⁸ and 1.5·10⁻⁷.
    #[test]
    fn a_frame_stays_of_length_one() {
        let lanes = OneF32(0);
        let mut frame = Quaternion([0.1, 0.2, 0.3, 0.9]).normalised(lanes);
        let (mut squares, mut worst) = (0.0, 0.0_f64);
        let count = 100_000;
        for k in 0..count {
            let turn = [1.0, 2.0, 3.0].map(|by: f32| (k as f32 * by).sin() * 0.2);
            frame = frame.turned(lanes, V3(turn));
            let off = frame.0.map(f64::from).iter().map(|entry| entry * entry).sum::<f64>().sqrt() - 1.0;
            squares += off * off;
            worst = worst.max(off.abs());
        }
        let off = (squares / f64::from(count)).sqrt();
        println!("{off:.1e} off 1 (root mean square), {worst:.1e} at worst");
        assert!(off < 3.0e-8 && worst < 1.0e-7, "{off}, {worst}");
    }
}
