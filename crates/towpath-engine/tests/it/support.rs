//! A working directory for runs, and an adapter made of closures.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use towpath_engine::{Adapter, AdapterError, AgentCall, BashCall, Runner};

/// A working directory with a state directory beside it.
pub struct Workspace {
    directory: TempDir,
}

impl Workspace {
    /// With one recipe, `recipe.yaml`.
    pub fn new(recipe: &str) -> Workspace {
        let workspace = Workspace { directory: tempfile::tempdir_in("/tmp").expect("a directory") };
        fs::create_dir(workspace.path("work")).expect("a directory");
        workspace.write("work/recipe.yaml", recipe);
        workspace
    }

    pub fn path(&self, inside: &str) -> PathBuf {
        self.directory.path().join(inside)
    }

    pub fn write(&self, inside: &str, text: &str) {
        fs::write(self.path(inside), text).expect("a file can be written");
    }

    pub fn read(&self, inside: &str) -> String {
        fs::read_to_string(self.path(inside)).expect("a file can be read")
    }

    /// A test's `main` is the harness's: the warden is a program of its own here.
    pub fn runner(&self) -> Runner {
        Runner::new(self.path("state"))
            .working_dir(self.path("work"))
            .environment([("PATH", "/usr/local/bin:/usr/bin:/bin")])
            .warden(env!("CARGO_BIN_EXE_towpath-warden"))
    }
}

type AgentAnswer = Box<dyn Fn(&AgentCall) -> Result<String, AdapterError> + Send + Sync>;
type BashAnswer = Box<dyn Fn(&BashCall) -> Option<Result<String, AdapterError>> + Send + Sync>;

/// Answers by closures, and keeps what it was asked.
pub struct Fake {
    pub available: bool,
    agent: AgentAnswer,
    bash: BashAnswer,
    pub calls: Arc<Mutex<Vec<AgentCall>>>,
    pub commands: Arc<Mutex<Vec<BashCall>>>,
}

impl Fake {
    pub fn agent(
        answer: impl Fn(&AgentCall) -> Result<String, AdapterError> + Send + Sync + 'static,
    ) -> Fake {
        Fake {
            available: true,
            agent: Box::new(answer),
            bash: Box::new(|_| None),
            calls: Arc::default(),
            commands: Arc::default(),
        }
    }

    pub fn bash(
        mut self,
        answer: impl Fn(&BashCall) -> Option<Result<String, AdapterError>> + Send + Sync + 'static,
    ) -> Fake {
        self.bash = Box::new(answer);
        self
    }
}

impl Adapter for Fake {
    fn name(&self) -> &str {
        "fake"
    }

    fn is_available(&self) -> bool {
        self.available
    }

    fn execute_agent_step(&self, call: &AgentCall) -> Result<String, AdapterError> {
        self.calls.lock().expect("calls").push(call.clone());
        (self.agent)(call)
    }

    fn execute_bash_step(&self, call: &BashCall) -> Option<Result<String, AdapterError>> {
        self.commands.lock().expect("commands").push(call.clone());
        (self.bash)(call)
    }
}
