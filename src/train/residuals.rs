//! What is left to explain of each sample's displacement: made anew whenever it is asked for, so that displacements are in memory
//! once.

use super::TrainingData;
use super::analysis::Analysis;

/// δ of each sample, less what is explained already.
pub(super) struct Residuals<'a> {
    data: &'a TrainingData,
    mean: &'a [f32],
    /// An analysis, and its coefficients of each sample, one after another.
    explained: Option<(&'a Analysis, &'a [f32])>,
}

impl<'a> Residuals<'a> {
    /// Less the mean.
    pub fn new(data: &'a TrainingData, mean: &'a [f32]) -> Self {
        Self { data, mean, explained: None }
    }

    /// Less what an analysis' coefficients give too.
    pub fn explained_by(self, analysis: &'a Analysis, coefficients: &'a [f32]) -> Self {
        Self { explained: Some((analysis, coefficients)), ..self }
    }

    /// 3V.
    pub fn length(&self) -> usize {
        self.mean.len()
    }

    /// Writes a sample's.
    pub fn write(&self, sample: usize, to: &mut [f32]) {
        let delta = &self.data.deltas[sample * self.length()..][..self.length()];
        to.iter_mut().zip(delta).zip(self.mean).for_each(|((to, delta), mean)| *to = delta - mean);
        if let Some((analysis, coefficients)) = self.explained {
            analysis.subtract(&coefficients[sample * analysis.count..][..analysis.count], to);
        }
    }
}
