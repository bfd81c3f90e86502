//! An install is proven to work, by its check or by a repaired one.

mod model_proposal;
mod proof;

pub use model_proposal::{RepairModel, read_proposal, repair_prompt};
pub use proof::{Attempt, NotVerified, Proof, ProofRequest, ProveError, prove};
