//! A warden as a program of its own, for programs that cannot call `towpath_engine::init` first in `main`,
//! such as a test under a harness. It talks to the engine that has started it, and only to it. The same
//! program is inside of the sandboxes of a run's steps.

fn main() {
    towpath_engine::init(std::env::args_os());
    towpath_engine::warden_main()
}
