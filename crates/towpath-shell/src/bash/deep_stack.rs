//! Runs a recursive piece of work where deep nesting cannot overflow the caller's stack. The parser
//! bounds its own depth, but trees are also walked and dropped recursively, and a stack overflow
//! cannot be caught.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// So many levels fit on any stack. Each level needs at least one character that is no part of a plain
/// word: a bracket, a quote, an operator, or the blank after a reserved word.
const FEW_LEVELS: usize = 512;
const STACK: usize = 32 * 1024 * 1024;
/// Words before a command that are levels of their own, however plain they look.
pub const PREFIXES: [&str; 2] = ["time", "coproc"];
/// How many levels of brackets one of them is worth.
const PREFIX: usize = 64;

/// `None` if the work panicked or no thread could be had.
pub fn run<T: Send>(text: &str, work: impl FnOnce() -> T + Send) -> Option<T> {
    if most_levels(text) <= FEW_LEVELS {
        return catch_unwind(AssertUnwindSafe(work)).ok();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.ok()?.join().ok()
    })
}

fn most_levels(text: &str) -> usize {
    let is_plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_./".contains(byte) || !byte.is_ascii();
    let prefixes: usize = PREFIXES.iter().map(|word| text.matches(word).count()).sum();
    text.bytes().filter(|byte| !is_plain(byte)).count() + prefixes * PREFIX
}
