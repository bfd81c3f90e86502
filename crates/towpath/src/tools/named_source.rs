//! The tool that a user means by a name alone: one of the table of known tools, or a program of the system.
//! Any other name is a question: registries have whatever anybody has published under it.

use super::tool_session::ToolSession;
use super::wanted_tool::refuse_users_recipe;
use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::choose_recipe::can_ask;
use crate::session::tools_meeting_requirement::system_program;
use crate::terminal::format::{ago, clean, now_ms};
use crate::terminal::out;
use crate::terminal::report::{columns, wrapped};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use towpath_tool::ToolSource;
use towpath_tool::sources::{Candidate, Found, SourceRef, known_tool, search};

/// Where the tool of a name comes from. Asks the user where that is allowed and there is a user.
pub fn named_source(
    session: &ToolSession<'_>,
    name: &str,
    may_ask: bool,
) -> Result<ToolSource, CommandError> {
    refuse_users_recipe(session, name)?;
    if let Some(tool) = known_tool(name) {
        return Ok(ToolSource::Package(tool.from));
    }
    if system_program(name).is_some() {
        return Ok(ToolSource::System);
    }
    let found = session.with_sources(|context| search(name, context));
    let answers = found.iter().filter_map(|(_, answer)| answer.as_ref().ok()?.as_ref());
    let usable: Vec<&Candidate> = answers.filter(|one| one.unusable.is_none()).collect();
    let lines = others(session.env, name, &found);
    match may_ask && can_ask(session.env) && !usable.is_empty() {
        true => choose(name, &usable, &lines).map(ToolSource::Package),
        false => Err(undecided(name, &usable, &lines)),
    }
}

/// Lists the candidates by number, and asks which one is meant.
fn choose(name: &str, usable: &[&Candidate], others: &[String]) -> Result<SourceRef, CommandError> {
    const INDENT: usize = 5;
    let room = columns().saturating_sub(INDENT).max(20);
    out::note(format!("`{name}` {UNKNOWN}:\n"));
    for (index, candidate) in usable.iter().enumerate() {
        out::note(clean(&format!("{:>3}  {}", index + 1, candidate.source)));
        for line in wrapped(&clean(&described(candidate)), room) {
            out::note(format!("{}{line}", " ".repeat(INDENT)));
        }
    }
    for line in others {
        out::note(clean(&format!("  {line}")));
    }
    let numbers = match usable.len() {
        1 => "1".to_owned(),
        last => format!("1-{last}"),
    };
    out::message(&format!("\nWhich one? {numbers}, or nothing to stop: "));
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    if !answer.ends_with('\n') {
        out::message("\n");
    }
    let answer = answer.trim();
    if read.is_err() || answer.is_empty() {
        let message = format!(
            "nothing was chosen, and nothing was installed; to choose later: towpath tool create {name} \
             --from SOURCE"
        );
        return Err(CommandError::new(Exit::Decide, ErrorKind::NotFound, message));
    }
    let index = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let chosen = index.and_then(|index| usable.get(index)).ok_or_else(|| {
        let answer = clean(answer);
        CommandError::bad_input(format!("`{answer}` is not {numbers}; nothing was installed"))
    })?;
    Ok(chosen.source.clone())
}

const UNKNOWN: &str =
    "is not in the table of known tools, and anybody can publish under a free name";

fn undecided(name: &str, usable: &[&Candidate], others: &[String]) -> CommandError {
    let candidate = |one: &&Candidate| {
        [
            format!("towpath tool create {name} --from {}", one.source),
            format!("  {}", described(one)),
        ]
    };
    let lines = usable.iter().flat_map(candidate).chain(others.iter().cloned());
    let lines: String = lines.map(|line| format!("\n  {}", clean(&line))).collect();
    let message = format!("`{name}` {UNKNOWN}; choose where it comes from:{lines}");
    CommandError::new(Exit::Decide, ErrorKind::NotFound, message)
}

/// Registries that could not be asked, and the package manager of this machine.
fn others(env: &Environment, name: &str, found: &[Found]) -> Vec<String> {
    let failed = |(kind, answer): &Found| {
        answer.as_ref().err().map(|error| format!("{}: {error}", kind.title()))
    };
    let mut lines: Vec<String> = found.iter().filter_map(failed).collect();
    if let Some(command) = package_manager(env, name) {
        lines.push(command);
        lines.push("  if the system has it".to_owned());
    }
    lines
}

/// The command of this machine's package manager that installs something of that name.
pub fn package_manager(env: &Environment, name: &str) -> Option<String> {
    const MANAGERS: [&str; 6] = ["apt-get", "dnf", "brew", "pacman", "apk", "zypper"];
    let manager = MANAGERS.iter().find(|manager| env.on_path(manager).is_some())?;
    Some(format!("{manager} install {name}"))
}

fn described(candidate: &Candidate) -> String {
    let Candidate { version, description, owner, published, homepage, .. } = candidate;
    let by = owner.as_ref().map(|owner| format!("by {owner}"));
    let day = published.as_ref().map(|time| dated(time.get(..10).unwrap_or(time)));
    let parts = [Some(version.clone()), description.clone(), by, day, homepage.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// `2024-05-01 (3 d ago)`, `2020-05-01 (6 years ago)`
fn dated(day: &str) -> String {
    let Ok(date) = day.parse::<Date>().and_then(|date| date.to_zoned(TimeZone::UTC)) else {
        return day.to_owned();
    };
    let (then, now) = (date.timestamp().as_millisecond(), now_ms());
    match (now - then) / (365 * 86_400_000) {
        years @ 2.. => format!("{day} ({years} years ago)"),
        _ => format!("{day} ({})", ago(then, now)),
    }
}
