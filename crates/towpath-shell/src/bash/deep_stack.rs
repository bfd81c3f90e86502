//! Runs a recursive piece of work where deep nesting cannot overflow the caller's stack. The parser
//! bounds its own depth, but trees are also walked and dropped recursively, and a stack overflow
//! cannot be caught.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// A panic of this thread is expected, and nothing is printed for it.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

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

/// `None` if the work panicked. Nothing is printed about it.
pub fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                print(panic);
            }
        }));
    });
    let outer = QUIET.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work)).ok();
    QUIET.set(outer);
    done
}

fn most_levels(text: &str) -> usize {
    let is_plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_./".contains(byte) || !byte.is_ascii();
    let prefixes: usize = PREFIXES.iter().map(|word| text.matches(word).count()).sum();
    text.bytes().filter(|byte| !is_plain(byte)).count() + prefixes * PREFIX
}
