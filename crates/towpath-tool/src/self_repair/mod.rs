//! Proves that an install works, and repairs the check of a generated recipe that is wrong about it. The
//! order is that of the original design: run the check; if it fails, analyse what was printed and run the
//! repaired check in a new sandbox; then other commands; and only if nothing is known after that, and
//! the user has allowed it, a model. The recipe that comes in is never changed, and a recipe that its
//! user wrote is never repaired.

mod model_proposal;
mod proof;

pub use model_proposal::{ModelAnswer, RepairModel, read_proposal, repair_prompt};
pub use proof::{Attempt, NotVerified, Proof, ProofRequest, ProveError, prove};
