//! A process that embeds the engine gets no orphans of its other children.

use crate::support::Workspace;
use std::sync::{Arc, Mutex};
use towpath_engine::{Listener, StepReport};

/// Orphans of an embedder's other children are not the engine's to take.
#[test]
fn an_embedders_process_is_given_no_orphans() {
    #[derive(Clone, Default)]
    struct Looking(Arc<Mutex<Vec<bool>>>);
    impl Listener for Looking {
        fn on_step_complete(&mut self, _: &StepReport) {
            let reaper = rustix::process::child_subreaper().expect("the kernel reports it");
            self.0.lock().unwrap().push(reaper.is_some());
        }
    }
    let looking = Looking::default();
    let workspace = Workspace::new("name: r\nsteps:\n  - {id: a, command: 'true'}\n");
    let result = workspace.runner().listener(looking.clone()).run("recipe.yaml").expect("it runs");
    assert!(result.success);
    assert_eq!(*looking.0.lock().unwrap(), [false]);
}
