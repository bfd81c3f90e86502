//! How a program that embeds the engine gets its warden, the process that guards every child of a
//! run. It is the same program, started again; [`init`] is where it then branches off. Nothing here
//! looks at the program's arguments by itself.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use towpath_executor::{SERVER_ARGUMENT, WardenStart, own_executable, server_main, warden_main};

/// The hidden argument of a program that is started as its own warden.
const ARGUMENT: &str = "--towpath-warden";

static CALLED: AtomicBool = AtomicBool::new(false);

/// Call it first in `main`, with the program's arguments, before any thread is started.
///
/// A [`Runner`](crate::Runner) starts the program again as the warden of a run, and inside of the
/// sandboxes of its steps; in those processes this function does not return. Without it a `Runner`
/// refuses to run, unless it is given another program ([`Runner::warden`](crate::Runner::warden)).
pub fn init(arguments: impl IntoIterator<Item = OsString>) {
    let arguments: Vec<OsString> = arguments.into_iter().skip(1).collect();
    match arguments.split_first() {
        Some((first, _)) if first == ARGUMENT => warden_main(),
        Some((first, rest)) if first == SERVER_ARGUMENT => server_main(rest),
        _ => {}
    }
    CALLED.store(true, Ordering::Release);
}

/// This program as its own warden. `None` where it would not know that it is one, and would do its
/// whole work again instead.
pub(crate) fn own_warden() -> Option<WardenStart> {
    let own = WardenStart::Program {
        path: own_executable().to_owned(),
        arguments: vec![ARGUMENT.into()],
    };
    CALLED.load(Ordering::Acquire).then_some(own)
}
