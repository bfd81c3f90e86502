//! A warden as a program of its own, for programs that cannot call `towpath_engine::init` first in `main`,
//! such as a test under a harness. It talks to the engine that has started it, and only to it.

fn main() {
    towpath_engine::warden_main()
}
