//! Points that leave no gaps: Latin supercube sampling (Owen 1998, "Latin supercube sampling for very high-dimensional
//! simulations"). Joints and muscles each go through a low-discrepancy sequence of few dimensions of their own, in an order of
//! their own: sequences of a hundred dimensions would fill none of them.
//!
//! The sequences are Roberts' R_d (2018, "The unreasonable effectiveness of quasirandom sequences"): frac(k α) with α_j = φ^(−j), and
//! φ the root of φ^(d+1) = φ + 1. In whole numbers modulo 2⁶⁴, so that all machines agree.

/// 2⁶⁴ α of R_1, the golden ratio's.
const R1: [u64; 1] = [0x9e37_79b9_7f4a_7c15];

/// Those of R_3, whose φ is 1.2207440846057596.
const R3: [u64; 3] = [0xd1b5_4a32_d192_ed03, 0xabc9_8388_fb8f_ac03, 0x8cb9_2ba7_2f3d_8dd7];

/// The numbers of splitmix64 (Steele et al. 2014, "Fast splittable pseudorandom number generators").
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(R1[0]);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `below`, by the upper half of a product: off from even by 2⁻³² of it.
    pub fn below(&mut self, below: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(below)) >> 64) as u32
    }

    /// Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u32 + 1) as usize;
            items.swap(last, other);
        }
    }
}

/// One of two, each as often, in no period that anything else has.
pub(super) fn every_other(index: u32) -> bool {
    u64::from(index).wrapping_mul(R1[0]) >> 63 == 1
}

/// One sequence gone through in an order of its own.
pub(super) struct Stream {
    order: Vec<u32>,
    shift: [u64; 3],
}

impl Stream {
    /// The stream of a number, of so many points.
    pub fn new(seed: u64, number: u64, count: u32) -> Self {
        let mut random = Random::new(seed ^ Random::new(number.wrapping_add(1)).next());
        let shift = [random.next(), random.next(), random.next()];
        let mut order: Vec<u32> = (0..count).collect();
        random.shuffle(&mut order);
        Self { order, shift }
    }

    fn at(&self, index: u32, alpha: u64, shift: u64) -> f64 {
        let place = u64::from(self.order[index as usize]).wrapping_mul(alpha).wrapping_add(shift);
        (place >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// A number from 0 to below 1.
    pub fn number(&self, index: u32) -> f64 {
        self.at(index, R1[0], self.shift[0])
    }

    /// Three.
    pub fn point(&self, index: u32) -> [f64; 3] {
        [0, 1, 2].map(|k| self.at(index, R3[k], self.shift[k]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far the share of points in boxes at the origin is from their volume, at most, over a grid of boxes.
    fn discrepancy(points: &[[f64; 3]]) -> f64 {
        let mut most = 0.0_f64;
        for corner in 0..512 {
            let corner = [corner % 8, corner / 8 % 8, corner / 64].map(|k| (k + 1) as f64 / 8.0);
            let inside = points.iter().filter(|point| (0..3).all(|k| point[k] < corner[k])).count();
            most = most.max((inside as f64 / points.len() as f64 - corner.iter().product::<f64>()).abs());
        }
        most
    }

    #[test]
    fn steps_are_the_powers_of_the_root() {
        let root = 1.220_744_084_605_759_6_f64;
        assert!((root.powi(4) - root - 1.0).abs() < 1.0e-14);
        for (k, alpha) in R3.iter().enumerate() {
            assert!((*alpha as f64 / 2.0_f64.powi(64) - root.powi(-(k as i32 + 1))).abs() < 1.0e-9, "{k}");
        }
        assert!((R1[0] as f64 / 2.0_f64.powi(64) - (5.0_f64.sqrt() - 1.0) / 2.0).abs() < 1.0e-15);
    }

    #[test]
    fn a_stream_leaves_smaller_gaps_than_chance_does() {
        let (mut worst, mut chance) = (0.0_f64, 0.0);
        for seed in 0..8 {
            let stream = Stream::new(seed, 3, 256);
            worst = worst.max(discrepancy(&(0..256).map(|k| stream.point(k)).collect::<Vec<_>>()));
            let mut random = Random::new(seed);
            let mut unit = || (random.next() >> 11) as f64 * 2.0_f64.powi(-53);
            chance += discrepancy(&(0..256).map(|_| [unit(), unit(), unit()]).collect::<Vec<_>>()) / 8.0;
        }
        println!("discrepancy {worst:.4} at worst, {chance:.4} of random points in the mean");
        assert!(worst < 0.5 * chance);
    }

    #[test]
    fn streams_differ_and_are_in_no_common_order() {
        let [a, b] = [0, 1].map(|number| Stream::new(7, number, 500));
        let mean: f64 = (0..500).map(|k| (a.number(k) - 0.5) * (b.number(k) - 0.5)).sum::<f64>() / 500.0;
        println!("correlation {:.3}", mean * 12.0);
        assert!((mean * 12.0).abs() < 0.15);
        let mut order = a.order.clone();
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..500));
    }
}
