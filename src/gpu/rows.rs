//! Which rows of an array are in use.

use std::ops::Range;
use std::sync::Arc;

/// How many rows.
pub(super) fn count(rows: &Range<u64>) -> usize {
    (rows.end - rows.start) as usize
}

/// Ranges of rows, given out and taken back; freed ones are used again before the array grows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    end: u64,
    /// Free ranges below `end`, in order, none touching another.
    free: Vec<Range<u64>>,
}

impl Rows {
    /// One past the last row that was ever in use and still counts.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Takes `count` rows.
    pub fn take(&mut self, count: u64) -> Range<u64> {
        if count == 0 {
            return 0..0;
        }
        let fits = |range: &Range<u64>| range.end - range.start >= count;
        if let Some(index) = self.free.iter().position(fits) {
            let start = self.free[index].start;
            self.free[index].start += count;
            if self.free[index].is_empty() {
                self.free.remove(index);
            }
            return start..start + count;
        }
        let start = self.end;
        self.end += count;
        start..self.end
    }

    /// Gives rows back.
    pub fn give_back(&mut self, rows: Range<u64>) {
        if rows.is_empty() {
            return;
        }
        let index = self.free.partition_point(|range| range.start < rows.start);
        self.free.insert(index, rows);
        if index + 1 < self.free.len() && self.free[index].end == self.free[index + 1].start {
            self.free[index].end = self.free.remove(index + 1).end;
        }
        if index > 0 && self.free[index - 1].end == self.free[index].start {
            self.free[index - 1].end = self.free.remove(index).end;
        }
        if let Some(last) = self.free.pop_if(|range| range.end == self.end) {
            self.end = last.start;
        }
    }
}

/// Assets in the arrays, each once for all that use it; `R` says where its rows are.
#[derive(Debug)]
pub(super) struct SharedRows<T, R> {
    assets: Vec<(Arc<T>, usize, R)>,
}

impl<T, R> Default for SharedRows<T, R> {
    fn default() -> Self {
        Self { assets: Vec::new() }
    }
}

impl<T, R> SharedRows<T, R> {
    /// Where an asset's rows are, for one more user.
    pub fn join(&mut self, asset: &Arc<T>) -> Option<&R> {
        let (_, users, rows) = self.assets.iter_mut().find(|(owner, ..)| Arc::ptr_eq(owner, asset))?;
        *users += 1;
        Some(rows)
    }

    /// Where an asset's rows are.
    #[cfg(feature = "neural")]
    pub fn get(&self, asset: &Arc<T>) -> Option<&R> {
        self.assets.iter().find(|(owner, ..)| Arc::ptr_eq(owner, asset)).map(|(.., rows)| rows)
    }

    /// Takes in an asset, for its first user.
    pub fn add(&mut self, asset: &Arc<T>, rows: R) {
        self.assets.push((asset.clone(), 1, rows));
    }

    /// Counts one user less; where the rows were when that was the last one.
    pub fn leave(&mut self, asset: &Arc<T>) -> Option<R> {
        let index = self.assets.iter().position(|(owner, ..)| Arc::ptr_eq(owner, asset))?;
        self.assets[index].1 -= 1;
        (self.assets[index].1 == 0).then(|| self.assets.swap_remove(index).2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_rows_are_used_again_and_join() {
        let mut rows = Rows::default();
        let taken: Vec<_> = [3, 4, 5, 6].map(|count| rows.take(count)).into();
        assert_eq!(taken, [0..3, 3..7, 7..12, 12..18]);
        rows.give_back(3..7);
        assert_eq!(rows.take(2), 3..5);
        rows.give_back(7..12);
        assert_eq!(rows.take(7), 5..12, "5..7 and 7..12 joined");
        rows.give_back(12..18);
        assert_eq!(rows.end(), 12);
        rows.give_back(0..3);
        rows.give_back(3..5);
        assert_eq!((rows.take(5), rows.take(0), rows.end()), (0..5, 0..0, 12));
        rows.give_back(5..12);
        rows.give_back(0..5);
        assert_eq!((rows.end(), rows.free.len()), (0, 0));
    }
}
