//! Programs that a plan requires: found before anything is recorded, first on PATH, the same for a
//! resume.

use crate::support::Workspace;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use towpath_core::Secrets;
use towpath_engine::{
    EngineError, Error, FoundProgram, Limits, Options, PlanRequirement, RequirementChecker, Store,
    Unmet, UnmetRequirements, create,
};
use towpath_recipe::{Request, RunOptions, SearchPath, resolve};

/// Finds programs in directories by name and version, `NAME-VERSION/NAME`, and keeps what it was asked.
#[derive(Debug, Clone)]
struct VersionedPrograms {
    root: PathBuf,
    asked: Arc<Mutex<Vec<String>>>,
}

impl VersionedPrograms {
    fn new(workspace: &Workspace) -> VersionedPrograms {
        VersionedPrograms { root: workspace.path("programs"), asked: Arc::default() }
    }

    fn put(&self, name: &str, version: &str) {
        let directory = self.root.join(format!("{name}-{version}"));
        fs::create_dir_all(&directory).expect("a directory");
        let program = directory.join(name);
        fs::write(&program, format!("#!/bin/sh\necho {name} {version}\n")).expect("a program");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    fn remove(&self, name: &str, version: &str) {
        fs::remove_dir_all(self.root.join(format!("{name}-{version}"))).expect("it was there");
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("asked"))
    }
}

impl RequirementChecker for VersionedPrograms {
    fn find(
        &self,
        wanted: &PlanRequirement,
        earlier: Option<&FoundProgram>,
    ) -> Result<FoundProgram, Unmet> {
        let known = earlier.and_then(|earlier| earlier.version.clone()).unwrap_or_default();
        self.asked.lock().expect("asked").push(format!("{wanted} {known}"));
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut found: Vec<FoundProgram> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let version = name.strip_prefix(&wanted.name)?.strip_prefix('-')?.to_owned();
                let program = entry.path().join(&wanted.name);
                let (version, readable) = (Some(version), Vec::new());
                Some(FoundProgram { program, version, directory_first: true, readable })
            })
            .collect();
        let meets = |found: &FoundProgram| {
            let version = found.version.as_deref().unwrap_or_default();
            wanted.is_met_by(&version.parse().expect("a version"))
        };
        match found.iter().position(meets) {
            Some(at) => Ok(found.swap_remove(at)),
            None if found.is_empty() => Err(Unmet::NotFound),
            None => Err(Unmet::OtherVersion { found }),
        }
    }
}

const TWO: &str = "name: two\nrequires: ['tool-a>=2']\nsteps:\n  - {id: a, command: tool-a}\n  - {id: b, condition: 'false', command: x, requires: [tool-b]}\n";

fn unmet(error: Error) -> UnmetRequirements {
    match error {
        Error::Engine(EngineError::Unmet(unmet)) => unmet,
        other => panic!("{other}"),
    }
}

#[test]
fn all_that_is_missing_is_reported_at_once_and_nothing_is_recorded() {
    let workspace = Workspace::new(TWO);
    let programs = VersionedPrograms::new(&workspace);
    programs.put("tool-a", "1.9");
    let refused = workspace.runner().requirements(programs).run("recipe.yaml");
    let unmet = unmet(refused.expect_err("nothing is there"));
    let text = unmet.to_string().replace(workspace.path("").to_str().expect("UTF-8"), "@/");
    assert_eq!(
        text,
        "required programs are missing: tool-a>=2 (two): there is 1.9 (@/programs/tool-a-1.9/tool-a); \
         tool-b (step b of two): not found"
    );
    assert!(!workspace.path("state").exists(), "nothing was recorded");
}

#[test]
fn what_was_found_comes_first_on_path_and_a_resume_gets_it_again() {
    let recipe = "name: r\nrequires: ['tool-a>=1']\nhooks: {pre_step: 'tool-a >> hook'}\nsteps:\n  - {id: a, command: 'tool-a; case $PATH in */tool-a-1.2:/usr/*) echo first;; esac'}\n  - {id: b, command: 'test -e go && tool-a'}\n";
    let workspace = Workspace::new(recipe);
    let programs = VersionedPrograms::new(&workspace);
    programs.put("tool-a", "1.2");
    let mut runner = workspace.runner().requirements(programs.clone());
    let result = runner.run("recipe.yaml").expect("a result");
    let output = |step: &str, result: &towpath_engine::RecipeResult| {
        result.step(step).and_then(|step| step.output.clone()).unwrap_or_default()
    };
    assert_eq!(output("a", &result), "tool-a 1.2\nfirst");
    assert!(!result.success);
    assert_eq!(programs.asked(), ["tool-a>=1 "]);

    programs.remove("tool-a", "1.2");
    workspace.write("work/go", "");
    let refused = unmet(runner.resume(result.run_id.as_str()).expect_err("it is gone"));
    assert_eq!(refused.0[0].why, Unmet::NotFound);
    assert_eq!(programs.asked(), ["tool-a>=1 1.2"], "what the run had is known");

    programs.put("tool-a", "3");
    let result = runner.resume(result.run_id.as_str()).expect("a result");
    assert!(result.success);
    assert_eq!(output("b", &result), "tool-a 3");
    assert_eq!(workspace.read("work/hook"), "tool-a 1.2\ntool-a 1.2\n");
    assert_eq!(programs.asked(), ["tool-a>=1 1.2"]);
}

#[test]
fn without_a_checker_programs_are_looked_for_on_path() {
    let recipe = "name: r\nrequires: [sed]\nsteps:\n  - {id: a, command: 'echo $PATH'}\n";
    let workspace = Workspace::new(recipe);
    let result = workspace.runner().run("recipe.yaml").expect("a result");
    let path = result.step("a").and_then(|step| step.output.as_deref());
    assert_eq!(path, Some("/usr/local/bin:/usr/bin:/bin"), "it is there already");

    workspace.write("work/recipe.yaml", &recipe.replace("[sed]", "[sed, 'sed>=1', no-such-thing]"));
    let refused = unmet(workspace.runner().run("recipe.yaml").expect_err("it is not there"));
    let why: Vec<String> = refused.0.iter().map(|unmet| unmet.why.to_string()).collect();
    let [sed, other] = &why[..] else { panic!("{why:?}") };
    assert!(sed.starts_with("the version of /") && sed.ends_with("/sed was not checked"), "{sed}");
    assert_eq!(other, "not found");
    let mut nothing = workspace.runner().environment([("PATH", "/no/such/directory")]);
    assert_eq!(unmet(nothing.run("recipe.yaml").expect_err("no PATH")).0.len(), 2);
}

#[test]
fn a_directory_that_path_cannot_name_is_refused() {
    let workspace =
        Workspace::new("name: r\nrequires: [tool-a]\nsteps:\n  - {id: a, command: x}\n");
    let programs = VersionedPrograms { root: workspace.path("pro:grams"), asked: Arc::default() };
    programs.put("tool-a", "1");
    let refused = workspace.runner().requirements(programs).run("recipe.yaml");
    let why = unmet(refused.expect_err("PATH would be two directories")).0[0].why.to_string();
    assert!(why.ends_with("pro:grams/tool-a-1 cannot be on PATH: it has a `:`"), "{why}");
}

#[test]
fn what_nobody_has_checked_is_not_recorded() {
    let workspace = Workspace::new(TWO);
    let directory = workspace.path("work");
    let program = resolve(&Request {
        reference: "recipe.yaml".to_owned(),
        working_dir: directory.clone(),
        search: SearchPath::default(),
        inputs: towpath_core::Map::new(),
        run_options: RunOptions { to_run: true, ..RunOptions::default() },
    });
    let mut store = Store::open(&workspace.path("state")).expect("a store");
    let refused = create(
        &mut store,
        program.program.expect("it is sound"),
        Options::default(),
        &directory,
        Limits::default(),
        &Secrets::default(),
    );
    let Err(EngineError::Unmet(unmet)) = refused else { panic!("{refused:?}") };
    assert!(unmet.0.iter().all(|unmet| unmet.why == Unmet::NotChecked) && unmet.0.len() == 2);
}
