//! Which agent answers, and whether it can: decided before the first step.

mod unattended_as_root;
mod unsupported_by_backend;

use crate::corrections::active_rules;
use crate::environment::{Environment, local_zone};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::query_program_version;
use crate::settings::Settings;
use crate::terminal::diagnostics;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_agent::{
    BACKENDS, BackendRow, ClaudeCode, Make, NotFound, ProgramSearch, Script, backend_hint,
    backend_row, find_program,
};
use towpath_core::files;
use towpath_core::files::is_program;
use towpath_core::{Diagnostic, nearest};
use towpath_corrections::host::Host;
use towpath_corrections::install::settings_for_claude_code;
use towpath_engine::{Agents, MetRequirements, Options, SessionTree};
use towpath_recipe::{Dialect, Program, Work};
use towpath_run::{PreviewStep, Verdict, preview};

/// The heading of these flags in the help.
pub const AGENTS: &str = "Agents";

#[derive(Debug, Clone, Default, clap::Args)]
pub struct AgentFlags {
    #[arg(long, value_name = "NAME", help_heading = AGENTS, help = backend_help())]
    pub backend: Option<String>,
    /// Answers for the scripted agent, one JSON line per call.
    #[arg(long, value_name = "FILE", help_heading = AGENTS)]
    pub script: Option<PathBuf>,
    /// Append every agent call to this file, as a JSON line.
    #[arg(long, value_name = "FILE", help_heading = AGENTS)]
    pub calls: Option<PathBuf>,
    /// The backend's program: a file, or a name on PATH.
    #[arg(long = "agent-path", value_name = "FILE", conflicts_with = "script")]
    #[arg(help_heading = AGENTS)]
    pub program: Option<PathBuf>,
}

/// The help of `--backend`, with every backend there is.
fn backend_help() -> String {
    let ids: Vec<&str> = BACKENDS.iter().map(|row| row.id).collect();
    let (last, others) = ids.split_last().expect("there are backends");
    format!("The agent for agent steps: {} or {last}", others.join(", "))
}

impl AgentFlags {
    /// The program that the user named: an absolute path, so that a resume from another directory finds
    /// it, or a bare name, which is looked for on PATH.
    pub fn named_program(&self, env: &Environment) -> Option<PathBuf> {
        let path = self.program.as_ref()?;
        let bare = path.components().count() == 1 && path.is_relative() && !path.starts_with("~");
        Some(if bare { path.clone() } else { env.current.join(env.expand_home(path)) })
    }

    pub fn from_options(options: &Options) -> AgentFlags {
        AgentFlags {
            backend: options.backend.clone(),
            script: options.script.as_ref().map(PathBuf::from),
            calls: options.calls.as_ref().map(PathBuf::from),
            program: options.program.as_ref().map(PathBuf::from),
        }
    }
}

/// How deep agents may be nested where no variable sets it.
const MAX_SESSION_DEPTH: u32 = 6;

/// Chooses the backend for a program's agent steps in a directory. Fails before anything runs if it is
/// missing.
pub fn choose(
    env: &Environment,
    settings: &Settings,
    flags: &AgentFlags,
    program: &Program,
    directory: &Path,
) -> Result<(Agents, Option<SessionTree>, Options), CommandError> {
    let name = backend(settings, flags)?;
    let absolute = |p: &PathBuf| env.current.join(env.expand_home(p));
    let script = flags.script.as_ref().map(absolute);
    let calls = flags.calls.as_ref().map(absolute);
    let own_program = flags.named_program(env);
    let options = Options {
        backend: Some(name.clone()),
        script: script.as_ref().map(|p| p.display().to_string()),
        calls: calls.as_ref().map(|p| p.display().to_string()),
        secrets: Vec::new(),
        program: own_program.as_ref().map(|p| p.display().to_string()),
        found: false,
        idle_timeout: None,
        worktree: None,
        requirements: MetRequirements::default(),
        sandbox: None,
    };
    refuse_unknown_modes(env, settings, flags, program)?;
    if !may_ask(program) {
        return Ok((Agents::None, None, options));
    }
    unsupported_by_backend::refuse(row(&name), &program.plan.machine)?;
    if let Some(why) = refused_root(env, row(&name), program) {
        return Err(CommandError::new(Exit::Setup, ErrorKind::Root, why));
    }
    let tree = session_tree(env, settings)?;
    if let Some(path) = &calls {
        let opened = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        opened.map_err(|e| CommandError::bad_input(format!("--calls {}: {e}", path.display())))?;
    }
    if name == "scripted" {
        let Some(path) = script else {
            return Err(CommandError::bad_input("--backend scripted needs --script FILE"));
        };
        let text = files::read_text(&path, files::MOST_SCRIPT)
            .map_err(|e| CommandError::bad_input(format!("--script {}: {e}", path.display())))?;
        let script = Script::parse(&path.display().to_string(), &text)
            .map_err(|e| CommandError::bad_input(e.to_string()))?;
        let agents = Agents::Scripted { script, calls, fresh: false };
        return Ok((agents, Some(tree), options));
    }
    let (found, make) = program_of(env, settings, &name, own_program)?;
    tracing::debug!(backend = name, ?found, "chose the backend");
    let backend = match hook_settings(env, &name, &found, directory)? {
        Some(settings) => Arc::new(ClaudeCode::new(found).with_settings(settings)),
        None => make(found, local_zone()),
    };
    Ok((Agents::Program { backend, calls }, Some(tree), options))
}

/// The backend that was asked for, checked to exist.
fn backend(settings: &Settings, flags: &AgentFlags) -> Result<String, CommandError> {
    let name = match (&flags.backend, &flags.script) {
        (Some(name), _) => name.clone(),
        (None, Some(_)) => "scripted".to_owned(),
        (None, None) => settings.backend.value.clone(),
    };
    let row = backend_row(&name).ok_or_else(|| {
        CommandError::setup(format!("no agent backend `{name}`: {}", backend_hint(&name)))
    })?;
    Ok(row.id.to_owned())
}

fn row(name: &str) -> &'static BackendRow {
    backend_row(name).expect("the name was checked")
}

/// Refuses to continue a session in a directory that is created for the run, where the backend cannot.
pub fn refuse_moving(
    settings: &Settings,
    flags: &AgentFlags,
    program: &Program,
) -> Result<(), CommandError> {
    unsupported_by_backend::refuse_moving(row(&backend(settings, flags)?), &program.plan.machine)
}

/// Why a program's agent steps could not run, found without any effect.
pub fn missing(
    env: &Environment,
    settings: &Settings,
    flags: &AgentFlags,
    program: &Program,
) -> Result<Option<String>, CommandError> {
    let name = backend(settings, flags)?;
    if name == "scripted" {
        return Ok(None);
    }
    let found = program_of(env, settings, &name, flags.program.clone());
    let missing = found.err().map(|stop| stop.message);
    Ok(missing.or_else(|| refused_root(env, row(&name), program)))
}

/// Why no call of this backend can work for this user, where one would be made that way.
fn refused_root(env: &Environment, row: &BackendRow, program: &Program) -> Option<String> {
    let rule = row.can.as_root?;
    let why = unattended_as_root::obstacle(env, row)?;
    may_come_to(program, &|work| unattended_as_root::is_unattended(work, row, &rule)).then_some(why)
}

/// Why a backend's calls that work without asking would fail, and the command that helps.
pub fn root_obstacle(env: &Environment, row: &BackendRow) -> Option<(String, String)> {
    let variable = row.can.as_root?.variable;
    Some((unattended_as_root::obstacle(env, row)?, format!("export {variable}=1")))
}

/// Whether a run of this program may come to ask an agent.
fn may_ask(program: &Program) -> bool {
    may_come_to(program, &|work| {
        matches!(work, Work::Agent(_) | Work::Recipe { recovery: true, .. })
    })
}

/// Whether a run of this program may come to such work: not where tags or conditions that are
/// known beforehand rule it out.
fn may_come_to(program: &Program, wanted: &dyn Fn(&Work) -> bool) -> bool {
    fn comes(program: &Program, steps: &[PreviewStep], wanted: &dyn Fn(&Work) -> bool) -> bool {
        steps.iter().any(|step| {
            let work = &program.recipes[step.recipe].steps[step.index].work;
            let begins = matches!(step.verdict, Verdict::Runs | Verdict::Unknown { .. });
            (begins && wanted(work)) || comes(program, &step.children, wanted)
        })
    }
    let mut steps = program.recipes.iter().flat_map(|recipe| &recipe.steps);
    if !steps.any(|step| wanted(&step.work)) {
        return false;
    }
    let ahead = preview(program);
    // Other recipes that a state machine restarts with are not looked at.
    ahead.cut || program.restarts() || comes(program, &ahead.steps, wanted)
}

/// Modes that the agent's program does not have. A dialect may take them for words that the agent reads.
pub fn unknown_modes(
    settings: &Settings,
    flags: &AgentFlags,
    program: &Program,
) -> Result<Vec<Diagnostic>, CommandError> {
    let backend = backend(settings, flags)?;
    let row = row(&backend);
    let Some(modes) = row.can.modes else { return Ok(Vec::new()) };
    let dialect = program.plan.dialect;
    let steps = program.recipes.iter().flat_map(|recipe| &recipe.steps);
    let unknown = steps
        .filter_map(|step| match &step.work {
            Work::Agent(agent) => Some((step, agent.mode.as_ref()?)),
            _ => None,
        })
        .filter(|(_, mode)| !row.can.has_mode(&mode.name))
        .map(|(step, mode)| {
            let message = format!("{backend} has no mode `{}`", mode.name);
            let near = nearest(&mode.name, modes.iter().copied());
            let label = near.map_or(String::new(), |near| format!("did you mean `{near}`?"));
            let modes = modes.join(", ");
            let help = match dialect {
                Dialect::RecipeRunner => {
                    format!("the agent gets it as text before its prompt; its modes are {modes}")
                }
                _ => format!("its modes are {modes}"),
            };
            Diagnostic::new(dialect.severity(), "bad-mode", message)
                .at(&step.source, mode.span, label)
                .help(help)
        });
    Ok(unknown.collect())
}

/// Refuses a recipe whose agents have modes that their program does not have.
pub fn refuse_unknown_modes(
    env: &Environment,
    settings: &Settings,
    flags: &AgentFlags,
    program: &Program,
) -> Result<(), CommandError> {
    let wrong = unknown_modes(settings, flags, program)?;
    if !wrong.iter().any(Diagnostic::is_error) {
        return Ok(());
    }
    diagnostics::draw(&wrong, env.color);
    let message = diagnostics::tally(&wrong, &program.plan.recipes[0].source);
    let error = CommandError::new(Exit::BadInput, ErrorKind::BadMode, message);
    Err(CommandError { shown: true, ..error })
}

fn program_of(
    env: &Environment,
    settings: &Settings,
    name: &str,
    flag: Option<PathBuf>,
) -> Result<(PathBuf, Make), CommandError> {
    let row = row(name);
    let make = row.make.expect("only the scripted backend is made otherwise");
    let found = find(env, settings, row, flag).map_err(|missing| {
        CommandError::new(Exit::Setup, ErrorKind::MissingProgram, missing.to_string())
    })?;
    Ok((found, make))
}

/// The settings that bring our hooks to an agent whose program takes settings as an argument, where
/// there are rules that could correct something. The other programs have them after `towpath init`.
fn hook_settings(
    env: &Environment,
    backend: &str,
    program: &Path,
    directory: &Path,
) -> Result<Option<String>, CommandError> {
    if backend != Host::ClaudeCode.name() {
        return Ok(None);
    }
    // Rules that cannot be read are the hook's to report; the run does not need them.
    let active = active_rules(env, env.journal()?.as_ref(), directory);
    if active.is_ok_and(|active| active.rules.is_empty()) {
        return Ok(None);
    }
    let version = query_program_version::version_now(program).ok();
    let version = version.and_then(|line| query_program_version::numbers(&line));
    Ok(Some(settings_for_claude_code(env, version)?.to_string()))
}

/// The version of an agent program on this machine, where it is there and answers.
pub fn host_version(env: &Environment, host: Host) -> Option<(u64, u64, u64)> {
    // Starting another one costs seconds, and none of its hooks depends on the answer.
    if host != Host::ClaudeCode {
        return None;
    }
    let settings = Settings::gather(env, None).unwrap_or_default();
    let program = locate(env, &settings, host_backend(host)).ok()?;
    query_program_version::numbers(&query_program_version::version_now(&program).ok()?)
}

/// The backend that starts an agent program.
pub fn host_backend(host: Host) -> &'static BackendRow {
    row(match host {
        Host::Copilot => "github-copilot",
        other => other.name(),
    })
}

/// Where a backend's program is.
pub fn locate(
    env: &Environment,
    settings: &Settings,
    row: &BackendRow,
) -> Result<PathBuf, NotFound> {
    find(env, settings, row, None)
}

fn find(
    env: &Environment,
    settings: &Settings,
    row: &BackendRow,
    flag: Option<PathBuf>,
) -> Result<PathBuf, NotFound> {
    let search = ProgramSearch {
        named: flag.map(|path| (path, "--agent-path")),
        variable: row.variable.and_then(|v| env.get(v)).cloned(),
        setting: settings.programs.get(row.id).map(|s| s.value.clone()),
        path: env.paths("PATH"),
        home: env.home.clone(),
        directory: env.current.clone(),
        is_program: &is_program,
    };
    find_program(row, &search)
}

fn session_tree(env: &Environment, settings: &Settings) -> Result<SessionTree, CommandError> {
    let number = |name: &str, default: u32| -> Result<u32, CommandError> {
        match env.text(name).filter(|t| !t.is_empty()) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| CommandError::setup(format!("{name} is `{text}`: not a number"))),
        }
    };
    let depth = number("AMPLIHACK_SESSION_DEPTH", 0)?;
    let max_depth = number("AMPLIHACK_MAX_DEPTH", MAX_SESSION_DEPTH)?;
    if depth >= max_depth {
        return Err(CommandError::new(
            Exit::Limit,
            ErrorKind::SessionDepth,
            format!(
                "agents are nested {depth} deep, and the limit is {max_depth}: this recipe was \
                 started by an agent that was started by an agent; AMPLIHACK_MAX_DEPTH sets the limit"
            ),
        ));
    }
    let id = env.text("AMPLIHACK_TREE_ID").filter(|t| !t.is_empty());
    Ok(SessionTree {
        depth,
        max_depth,
        max_sessions: settings.max_agents.value as u32,
        id: id.unwrap_or_else(|| towpath_engine::new_session().to_string()),
    })
}

/// `/bin/bash`, else the one on PATH.
pub fn bash(env: &Environment) -> Result<PathBuf, CommandError> {
    let usual = PathBuf::from("/bin/bash");
    if is_program(&usual) {
        return Ok(usual);
    }
    env.on_path("bash").ok_or_else(|| {
        CommandError::new(
            Exit::Setup,
            ErrorKind::MissingProgram,
            "bash is needed and is neither /bin/bash nor on PATH: install it (apt-get install bash)",
        )
    })
}
