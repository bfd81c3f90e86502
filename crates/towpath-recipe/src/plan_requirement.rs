//! What a plan requires of the machine: the programs, and the steps that must have a sandbox, of every
//! recipe that can be reached and of every step that tags have not left out, whatever its condition
//! will be. All that is required of one program is together, because a run has one version of it.
//! Whether a program or a sandbox is there is found out elsewhere.

use crate::plan::Program;
use crate::recipe::{Recipe, RequiredProgram, Step, Transition, Work};
use std::collections::BTreeSet;
use std::fmt;
use towpath_core::{Version, VersionConstraint};

/// A program, with everything that a plan requires of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRequirement {
    pub name: String,
    /// All of them must be met by one version; any version will do where there are none.
    pub constraints: Vec<VersionConstraint>,
    /// In the order of the plan.
    pub required_by: Vec<RequiredBy>,
}

/// A recipe or a step that requires a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredBy {
    /// The recipe's name.
    pub recipe: String,
    /// None: the recipe itself.
    pub step: Option<String>,
    /// As it is written.
    pub program: RequiredProgram,
}

impl PlanRequirement {
    pub fn is_met_by(&self, version: &Version) -> bool {
        self.constraints.iter().all(|constraint| constraint.is_met_by(version))
    }
}

/// `jq>=1.6,<2`
impl fmt::Display for PlanRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constraints: Vec<String> = self.constraints.iter().map(ToString::to_string).collect();
        write!(f, "{}{}", self.name, constraints.join(","))
    }
}

/// `build` or `step test of build`.
impl fmt::Display for RequiredBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.step {
            Some(step) => write!(f, "step {step} of {}", self.recipe),
            None => f.write_str(&self.recipe),
        }
    }
}

impl Program {
    /// The programs that must be there before the first job.
    pub fn requirements(&self) -> Vec<PlanRequirement> {
        let mut found: Vec<PlanRequirement> = Vec::new();
        for index in self.reached() {
            let recipe = &self.recipes[index];
            for program in &recipe.requires {
                add(&mut found, recipe, None, program);
            }
            for step in recipe.steps.iter().filter(|step| self.may_run(step)) {
                for program in &step.requires {
                    add(&mut found, recipe, Some(step), program);
                }
            }
        }
        found
    }

    /// The steps whose commands run in a sandbox: `step build of release`.
    pub fn sandboxed_steps(&self) -> Vec<String> {
        let mut found = Vec::new();
        for index in self.reached() {
            let recipe = &self.recipes[index];
            let steps = recipe.steps.iter().filter(|step| self.may_run(step));
            let sandboxed = steps.filter(|step| recipe.is_sandboxed(step));
            found.extend(sandboxed.map(|step| format!("step {} of {}", step.id, recipe.name)));
        }
        found
    }

    fn may_run(&self, step: &Step) -> bool {
        self.plan.tags.against(step).is_none()
    }

    /// The recipes that steps call or restart, the root first.
    fn reached(&self) -> Vec<usize> {
        let mut seen = BTreeSet::from([0]);
        let mut reached = vec![0];
        let mut next = 0;
        while let Some(&caller) = reached.get(next) {
            let steps = self.recipes[caller].steps.iter().filter(|step| self.may_run(step));
            let callees = steps.flat_map(callees);
            let callees = callees.filter_map(|name| self.callee(caller, name));
            reached.extend(callees.filter(|callee| seen.insert(*callee)).collect::<Vec<_>>());
            next += 1;
        }
        reached
    }
}

/// The names of the recipes that a step may begin.
fn callees(step: &Step) -> impl Iterator<Item = &str> {
    let called = match &step.work {
        Work::Recipe { name, .. } => Some(name.as_str()),
        Work::Bash { .. } | Work::Agent(_) => None,
    };
    let restarted = step.outcomes.iter().filter_map(|outcome| match &outcome.then {
        Transition::Restart { recipe, .. } => Some(recipe.as_str()),
        Transition::Next(_) | Transition::Exit { .. } => None,
    });
    called.into_iter().chain(restarted)
}

fn add(
    found: &mut Vec<PlanRequirement>,
    recipe: &Recipe,
    step: Option<&Step>,
    program: &RequiredProgram,
) {
    let name = &program.requirement.name;
    let at = found.iter().position(|known| known.name == *name).unwrap_or_else(|| {
        let (constraints, required_by) = (Vec::new(), Vec::new());
        found.push(PlanRequirement { name: name.clone(), constraints, required_by });
        found.len() - 1
    });
    let known = &mut found[at];
    if let Some(constraint) = &program.requirement.constraint
        && !known.constraints.contains(constraint)
    {
        known.constraints.push(constraint.clone());
    }
    known.required_by.push(RequiredBy {
        recipe: recipe.name.clone(),
        step: step.map(|step| step.id.clone()),
        program: program.clone(),
    });
}
