//! A script before it is filled: text that is known when the recipe is read, and the integers and
//! variables that are only known when a step is filled.

use crate::integer_values::Style;
use towpath_core::VarPath;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Integer { placeholder: usize, style: Style },
}

/// A text to fill: its pieces, and what its variables are set to.
#[derive(Debug, Clone, PartialEq)]
pub struct UnfilledScript {
    pub pieces: Vec<Piece>,
    pub variables: Vec<Variable>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Variable {
    Value(VarPath),
    /// Code for another shell, with its own variables.
    Code(UnfilledScript),
}
