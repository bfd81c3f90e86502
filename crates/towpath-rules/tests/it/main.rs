//! Corrections of tool calls: the cases, tables for every rule kind, and generated lines, with the
//! real bash.

#![allow(clippy::disallowed_methods, reason = "tests start bash and read files")]

mod argv;
mod cases;
mod command_lines;
mod creation;
mod properties;
mod recipes;
mod safety;
mod support;
