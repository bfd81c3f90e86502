//! What is reported while tests run: each result as soon as all before it were reported, in the
//! order of the files, on the thread that called.

use crate::case_runner::CaseResult;
use crate::mutation::Mutant;
use crate::tested_recipe::TestedRecipe;

pub trait Observer {
    /// The first case of a file follows.
    fn file(&self, subject: &TestedRecipe);

    /// The case of this number, from 0, has a result.
    fn case(&self, subject: &TestedRecipe, case: usize, result: &CaseResult);

    /// The first mutation of a file follows.
    fn mutations(&self, subject: &TestedRecipe);

    fn mutant(&self, subject: &TestedRecipe, mutant: &Mutant);

    /// Nothing was reported for a moment: how many of all are done, and what they are called.
    fn under_way(&self, done: usize, all: usize, what: &str);
}
