//! A warden as a program of its own, for whoever cannot call `towpath_engine::init` first in `main`,
//! such as a test under a harness. It speaks with the engine that has started it, and only with it.

fn main() {
    towpath_engine::warden_main()
}
