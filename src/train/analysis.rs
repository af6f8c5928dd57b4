//! Principal components, by a randomised singular value decomposition with power iterations (Halko, Martinsson and Tropp 2011,
//! "Finding structure with randomness", algorithms 4.4 and 5.1).

use nalgebra::DMatrix;

use super::TrainOptions;
use crate::bake::Random;

/// Directions beyond those asked for.
const OVERSAMPLING: usize = 10;

/// Power iterations: the spectrum of flesh falls fast, two are plenty.
const POWERS: usize = 2;

/// Displacements that are in memory at a time.
const AT_ONCE: usize = 32;

/// Orthonormal components, those that explain most first.
pub(super) struct Analysis {
    /// Component after component, each as long as a displacement.
    pub components: Vec<f32>,
    /// How many.
    pub count: usize,
    /// Share of the variance that they leave over.
    pub unexplained: f64,
    length: usize,
}

impl Analysis {
    /// A displacement's coefficients.
    pub fn project(&self, delta: &[f32]) -> Vec<f32> {
        let dot = |component: &[f32]| component.iter().zip(delta).map(|(a, b)| f64::from(a * b)).sum::<f64>() as f32;
        self.components.chunks_exact(self.length).map(dot).collect()
    }

    /// Takes from a displacement what coefficients give.
    pub fn subtract(&self, coefficients: &[f32], delta: &mut [f32]) {
        for (component, coefficient) in self.components.chunks_exact(self.length).zip(coefficients) {
            delta.iter_mut().zip(component).for_each(|(delta, value)| *delta -= coefficient * value);
        }
    }
}

/// The components of some samples' displacements, which are not centred here; `write` writes a sample's, as long as `length`.
pub(super) fn analyse(
    write: &dyn Fn(usize, &mut [f32]),
    length: usize,
    samples: &[usize],
    most: usize,
    options: &TrainOptions,
) -> Analysis {
    let data = Columns { write, length, samples };
    let wide = (most + OVERSAMPLING).min(samples.len()).min(length);
    let mut random = Random::new(options.seed ^ 0x5bd1);
    let signs = DMatrix::from_fn(samples.len(), wide, |_, _| if random.below(2) == 0 { -1.0_f32 } else { 1.0 });
    let (products, total) = data.times(&signs);
    let mut range = products.qr().q();
    for _ in 0..POWERS {
        let across = data.transpose_times(&range).qr().q();
        range = data.times(&across).0.qr().q();
    }
    let small = data.transpose_times(&range).cast::<f64>();
    let eigen = small.tr_mul(&small).symmetric_eigen();
    let mut order: Vec<usize> = (0..wide).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let mut left = total;
    let (mut count, mut components) = (0, Vec::new());
    for &index in order.iter().take(most) {
        // What moves nothing is one component that does so.
        if count > 0 && left <= options.unexplained * total {
            break;
        }
        let direction = eigen.eigenvectors.column(index).map(|value| value as f32);
        components.extend((&range * direction).iter());
        left -= eigen.eigenvalues[index];
        count += 1;
    }
    let unexplained = if total > 0.0 { (left / total).max(0.0) } else { 0.0 };
    Analysis { components, count, unexplained, length }
}

/// A matrix with a column a sample, of which some columns are there at a time.
struct Columns<'a> {
    write: &'a dyn Fn(usize, &mut [f32]),
    length: usize,
    samples: &'a [usize],
}

impl Columns<'_> {
    /// Goes through its columns, some at a time: `visit` takes the first one's number and them.
    fn visit(&self, mut visit: impl FnMut(usize, &DMatrix<f32>)) {
        for (begin, samples) in (0..).step_by(AT_ONCE).zip(self.samples.chunks(AT_ONCE)) {
            let mut some = DMatrix::zeros(self.length, samples.len());
            for (column, &sample) in some.as_mut_slice().chunks_exact_mut(self.length).zip(samples) {
                (self.write)(sample, column);
            }
            visit(begin, &some);
        }
    }

    /// It times another matrix; and the sum of its squares.
    fn times(&self, other: &DMatrix<f32>) -> (DMatrix<f32>, f64) {
        let (mut product, mut total) = (DMatrix::zeros(self.length, other.ncols()), 0.0);
        self.visit(|begin, some| {
            product.gemm(1.0, some, &other.rows(begin, some.ncols()), 1.0);
            total += some.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>();
        });
        (product, total)
    }

    /// Its transpose times another matrix.
    fn transpose_times(&self, other: &DMatrix<f32>) -> DMatrix<f32> {
        let mut product = DMatrix::zeros(self.samples.len(), other.ncols());
        self.visit(|begin, some| product.rows_mut(begin, some.ncols()).copy_from(&(some.transpose() * other)));
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_those_that_the_data_were_made_of() {
        let (length, samples) = (300, 80);
        let mut random = Random::new(3);
        let mut unit = || random.below(2001) as f32 / 1000.0 - 1.0;
        let basis: Vec<Vec<f32>> = (0..4).map(|_| (0..length).map(|_| unit()).collect()).collect();
        let strengths = [3.0, 1.0, 0.3, 0.1];
        let mut deltas = Vec::new();
        for _ in 0..samples {
            let coefficients = strengths.map(|strength| strength * unit());
            deltas.extend((0..length).map(|k| (0..4).map(|c| coefficients[c] * basis[c][k]).sum::<f32>()));
        }
        let all: Vec<usize> = (0..samples).collect();
        let options = TrainOptions { unexplained: 1.0e-6, ..TrainOptions::default() };
        let write = |sample: usize, to: &mut [f32]| to.copy_from_slice(&deltas[sample * length..][..length]);
        let analysis = analyse(&write, length, &all, 12, &options);
        println!("{} components, {:.1e} left over", analysis.count, analysis.unexplained);
        assert_eq!(analysis.count, 4);
        for a in 0..4 {
            for b in 0..4 {
                let [a_row, b_row] = [a, b].map(|k| &analysis.components[k * length..][..length]);
                let dot: f32 = a_row.iter().zip(b_row).map(|(x, y)| x * y).sum();
                assert!((dot - if a == b { 1.0 } else { 0.0 }).abs() < 1.0e-5);
            }
        }
        for delta in deltas.chunks(length) {
            let mut left = delta.to_vec();
            analysis.subtract(&analysis.project(delta), &mut left);
            let most = left.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
            assert!(most < 2.0e-5, "{most}");
        }
        let two = analyse(&write, length, &all, 2, &options);
        assert!(two.count == 2 && (1.0e-4..0.1).contains(&two.unexplained));
    }
}
