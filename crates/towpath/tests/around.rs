//! What stands around running: manual pages, a first recipe, built-in recipes taken out, recipes
//! kept in step with those of another repository. The real program, real files, real git.

mod support;

#[path = "around/git_guard.rs"]
mod git_guard;
#[path = "around/manual.rs"]
mod manual;
#[path = "around/recipes.rs"]
mod recipes;
#[path = "around/starting.rs"]
mod starting;
#[path = "around/syncing.rs"]
mod syncing;
