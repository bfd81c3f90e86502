//! What stands around running: manual pages, a first recipe, built-in recipes taken out, recipes
//! kept in step with those of another repository. The real program, real files, real git.

mod support;

#[path = "around/manual.rs"]
mod manual;
