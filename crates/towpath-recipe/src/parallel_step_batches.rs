//! Which steps of a step recipe start together.

use crate::recipe::Recipe;
use std::ops::Range;

impl Recipe {
    /// The steps in the order they run: single steps, and parallel groups as one range.
    pub fn batches(&self) -> &[Range<usize>] {
        self.batches.get_or_init(|| self.find_batches())
    }

    /// Steps with the same `parallel_group` form a batch where they follow each other; any other step
    /// is a batch by itself.
    fn find_batches(&self) -> Vec<Range<usize>> {
        let mut batches: Vec<Range<usize>> = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            let joins = index > 0
                && step.parallel_group.is_some()
                && step.parallel_group == self.steps[index - 1].parallel_group;
            match batches.last_mut() {
                Some(last) if joins => last.end = index + 1,
                _ => batches.push(index..index + 1),
            }
        }
        batches
    }
}
