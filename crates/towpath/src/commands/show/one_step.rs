//! One step of a run: how it ended, its condition with the values that it read, and what it runs, as
//! its author wrote it.

use super::{Printed, details};
use crate::exit::CommandError;
use crate::session::find_run::step_paths;
use crate::terminal::format::{clean, count};
use crate::terminal::out;
use crate::terminal::report::{condition_warnings_of, described, find};
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::table::{Cell, Table};
use serde_json::{Value, json};
use towpath_core::{Diagnostic, StepPath, nearest};
use towpath_recipe::{Step, Work, condition_warnings};
use towpath_run::StepView;
use towpath_view::problem_json;
use towpath_view::run_json::ShownRun;
use towpath_view::step_text;

pub struct OneStep<'a> {
    shown: &'a ShownRun,
    path: StepPath,
    view: StepView,
    step: &'a Step,
    recipe: usize,
    warnings: Vec<Diagnostic>,
}

impl<'a> OneStep<'a> {
    pub fn find(shown: &'a ShownRun, name: &str) -> Result<OneStep<'a>, CommandError> {
        let run = shown.run();
        let steps = run.view();
        let unknown = |error: String| {
            let mut names = Vec::new();
            step_paths(&steps, &mut names);
            let hint = match nearest(name, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    format!("towpath show {} lists {}", shown.row.id, count(names.len(), "step"))
                }
            };
            CommandError::bad_input(format!("{error}; {hint}"))
        };
        let path = run.find_step(name).map_err(|error| unknown(error.to_string()))?;
        let (Some((recipe, step)), Some(view)) = (run.definition(&path), find(&steps, &path))
        else {
            return Err(unknown(format!("{path} has not been reached")));
        };
        let warnings = match &step.condition {
            None => Vec::new(),
            Some(_) => {
                let all = condition_warnings(&run.program().plan);
                condition_warnings_of(run, &path, &all).into_iter().cloned().collect()
            }
        };
        Ok(OneStep { shown, path, view: view.clone(), step, recipe, warnings })
    }

    pub fn print(&self, screen: &Screen, as_json: bool) {
        if as_json {
            return out::json(&self.json());
        }
        let (_, word, tint) = Printed(self.shown).status_cell(&self.view);
        let mut parts = vec![clean(self.path.as_str()), screen.paint(tint, word)];
        parts.extend(details(&self.view));
        out::line(parts.join(" · "));
        self.print_condition(screen);
        out::line(format!("\n{}", self.step.work.kind().as_str()));
        for line in step_text(self.step).trim_end().lines() {
            out::line(format!("  {}", clean(line)));
        }
    }

    fn print_condition(&self, screen: &Screen) {
        let Some(condition) = &self.step.condition else { return };
        out::line("\ncondition");
        condition.text().trim().lines().for_each(|line| out::line(format!("  {}", clean(line))));
        let values = self.shown.run().condition_values(&self.path);
        let mut table = Table::plain(4);
        for read in values {
            let value = match &read.value {
                Some(value) => Cell::own(clean(value), Tint::None),
                None => Cell::tinted("not set: null", Tint::Attention),
            };
            table.row(vec![(&read.name).into(), value]);
        }
        table.print(screen);
        for text in self.warnings.iter().flat_map(described) {
            out::line(format!("  {}", screen.paint(Tint::Attention, &clean(&text))));
        }
    }

    fn json(&self) -> Value {
        let run = self.shown.run();
        let recipe = &run.program().recipes[self.recipe];
        let values = run.condition_values(&self.path);
        let values: serde_json::Map<String, Value> =
            values.iter().map(|read| (read.name.clone(), json!(read.value))).collect();
        let (_, status, _) = Printed(self.shown).status_cell(&self.view);
        let command = matches!(self.step.work, Work::Bash { .. });
        json!({
            "schema": 1,
            "run": self.shown.row.id,
            "step": self.path,
            "kind": self.step.work.kind().as_str(),
            "status": status,
            "details": details(&self.view),
            "condition": self.step.condition.as_ref().map(|condition| json!({
                "text": condition.text(),
                "values": values,
                "warnings": self.warnings.iter().map(problem_json).collect::<Vec<_>>(),
            })),
            "text": step_text(self.step),
            "fail_fast": command.then(|| recipe.command_options(self.step).fail_fast),
        })
    }
}
