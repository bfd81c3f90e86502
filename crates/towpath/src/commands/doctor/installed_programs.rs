//! The programs that steps and agents need: where they are and which version they report.

use super::agent_capability_table;
use super::finding::{Finding, Level};
use crate::environment::Environment;
use crate::query_program_version::{VersionQuery, query as query_version, unasked};
use crate::session::choose_agent::{bash, locate, root_obstacle};
use crate::settings::Settings;
use serde_json::{Value, json};
use towpath_agent::{BACKENDS, BackendRow, NotFound};
use towpath_view::foreign_text::escaped;

/// Every program, while it is asked for its version.
pub struct Programs {
    bash: Result<VersionQuery, String>,
    git: Option<VersionQuery>,
    agents: Vec<Agent>,
}

struct Agent {
    row: &'static BackendRow,
    /// None for one that needs no program of its own.
    found: Option<Result<VersionQuery, NotFound>>,
    /// The settings choose it.
    chosen: bool,
    /// A variable or a setting names its file.
    named: bool,
    /// Why it does not work for this user, and what helps.
    refuses: Option<(String, String)>,
}

/// Programs that unpack hundreds of megabytes, or leave files behind, before they print a version.
const COSTLY: &[&str] = &["github-copilot", "gemini"];

pub fn ask(env: &Environment, settings: &Settings) -> Programs {
    let agent = |row: &'static BackendRow| {
        let own = row.make.is_some();
        let variable = row.variable.and_then(|name| env.get(name));
        Agent {
            row,
            found: own.then(|| {
                let ask = if COSTLY.contains(&row.id) { unasked } else { query_version };
                locate(env, settings, row).map(|path| ask(&path))
            }),
            chosen: settings.backend.value == row.id,
            named: variable.is_some_and(|v| !v.is_empty())
                || settings.programs.contains_key(row.id),
            refuses: root_obstacle(env, row),
        }
    };
    Programs {
        bash: bash(env).map(|path| query_version(&path)).map_err(|stop| stop.message),
        git: env.on_path("git").map(|path| query_version(&env.current.join(path))),
        agents: BACKENDS.iter().map(agent).collect(),
    }
}

impl Programs {
    /// The findings, and the agents as JSON.
    pub fn answers(self) -> (Vec<Finding>, Vec<Value>) {
        let mut findings = vec![of_bash(&self.bash), of_git(self.git.as_ref())];
        let mut agents = Vec::new();
        for agent in &self.agents {
            let (finding, value) = agent.answer();
            findings.push(finding);
            agents.push(value);
        }
        (findings, agents)
    }
}

const INSTALL_BASH: &str = "apt-get install bash";
const INSTALL_GIT: &str = "apt-get install git";

fn of_bash(found: &Result<VersionQuery, String>) -> Finding {
    match found {
        Err(why) => Finding::broken("bash", why.clone(), INSTALL_BASH),
        Ok(asked) => match asked.answer() {
            Ok(version) => Finding::ok("bash", at(asked, &version)),
            Err(why) => Finding::broken("bash", at(asked, &why), INSTALL_BASH),
        },
    }
}

fn of_git(found: Option<&VersionQuery>) -> Finding {
    let Some(asked) = found else {
        return Finding::attention("git", "not on PATH; the demo needs it", INSTALL_GIT);
    };
    match asked.answer() {
        Ok(version) => Finding::ok("git", at(asked, &version)),
        Err(why) => Finding::attention("git", at(asked, &why), INSTALL_GIT),
    }
}

fn at(asked: &VersionQuery, what: &str) -> String {
    format!("{}: {what}", escaped(&asked.program))
}

impl Agent {
    fn answer(&self) -> (Finding, Value) {
        let row = self.row;
        let answer = match &self.found {
            Some(Ok(asked)) => Some(asked.answer()),
            _ => None,
        };
        let path = self.found.as_ref().and_then(|found| found.as_ref().ok()).map(|a| &a.program);
        let value = json!({
            "id": row.id,
            "title": row.title,
            "chosen": self.chosen,
            "path": path.map(|path| escaped(path)),
            "version": answer.as_ref().and_then(|answer| answer.as_ref().ok()),
            "install": self.found.is_some().then_some(row.install),
            "can": agent_capability_table::as_json(&row.can),
        });
        (self.finding(answer), value)
    }

    fn finding(&self, answer: Option<Result<String, String>>) -> Finding {
        let row = self.row;
        match (&self.found, answer) {
            (None, _) => Finding::ok(row.id, "built in; answers come from --script FILE"),
            (Some(Ok(asked)), Some(Ok(version))) => match &self.refuses {
                Some((why, fix)) if self.chosen || self.named => {
                    let text = format!("{}; {why}", at(asked, &version));
                    Finding::attention(row.id, text, fix)
                }
                _ => Finding::ok(row.id, at(asked, &version)),
            },
            (Some(Ok(asked)), Some(Err(why))) => {
                let text = at(asked, &why);
                Finding { level: self.level(), ..Finding::broken(row.id, text, row.install) }
            }
            (Some(Err(missing)), _) if self.chosen || self.named => {
                let text = missing.message.clone();
                Finding { level: self.level(), ..Finding::broken(row.id, text, row.install) }
            }
            _ => Finding::ok(row.id, format!("{} is not installed: {}", row.title, row.install)),
        }
    }

    /// A file that was named and is wrong fails every agent step. A program that is only missing
    /// matters to recipes with such steps alone.
    fn level(&self) -> Level {
        if self.named { Level::Broken } else { Level::Attention }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_bash_nothing_runs() {
        let finding = of_bash(&Err("bash is needed".to_owned()));
        assert_eq!(finding, Finding::broken("bash", "bash is needed", "apt-get install bash"));
        assert_eq!(of_git(None).level, Level::Attention);
    }
}
