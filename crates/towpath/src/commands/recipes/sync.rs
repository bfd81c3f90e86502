//! `towpath recipes sync`: how the recipes here compare with another repository's. It shows; only
//! with `--apply` it changes files, and never one that was changed here.

use super::apply_upstream::{Taken, apply, plan};
use super::fetch_upstream_recipes::{Upstream, fetch, shown_url};
use super::{contents, directory, directory_for_new, project_directory};
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::git::Git;
use crate::terminal::format::{clean, count};
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::shown_path::shown_path;
use similar::TextDiff;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_recipe::directory_manifest::{Compared, Manifest, ManifestError, compare};
use towpath_view::foreign_text::escaped;

/// Compare recipes with those of another repository, and take over new ones.
///
/// Shows which files are new upstream, which differ, and which exist only here. With --apply, takes
/// over new files and those that were not changed here since the manifest was written; exits with 1
/// if some were kept. New recipes are not trusted: `towpath trust` shows what they would run.
///
/// Example: towpath recipes sync https://example.org/team/recipes.git --ref v2
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The git repository: a URL or a path.
    pub url: String,
    /// The directory [default: the project's recipe directory, else .towpath/recipes]
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// A branch, a tag or a full commit id [default: the repository's default branch]
    #[arg(long = "ref", value_name = "REF")]
    pub reference: Option<String>,
    /// The directory in that repository [default: the first that towpath searches in a project]
    #[arg(long, value_name = "FOLDER")]
    pub path: Option<String>,
    /// Take over new files, and those that were not changed here.
    #[arg(long)]
    pub apply: bool,
    /// With --apply: also take over files that were changed or deleted here.
    #[arg(long, requires = "apply")]
    pub force: bool,
    /// Also add a git remote with this name to the repository that contains DIR.
    #[arg(long, value_name = "NAME")]
    pub remote: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// A file of either side, and what was done with it.
struct SyncedFile {
    name: String,
    compared: Compared,
    diff: Option<String>,
    taken: Taken,
}

pub fn execute(args: &Args, env: &Environment) -> Result<Exit, CommandError> {
    let directory = match &args.directory {
        // A directory that does not exist yet is empty.
        Some(given) if args.apply => env.current.join(env.expand_home(given)),
        Some(given) => directory(env, Some(given))?,
        None => project_directory(env)?.unwrap_or_else(|| directory_for_new(env)),
    };
    if let Some(name) = &args.remote {
        add_remote(env, &directory, name, &args.url)?;
    }
    let known = known(&directory)?;
    let here = if directory.is_dir() { contents(env, &directory)? } else { Manifest::default() };
    let upstream = fetch(env, &args.url, args.reference.as_deref(), args.path.as_deref())?;
    let compared = compare(&here, &upstream.manifest(), &known);
    let diffs: Vec<Option<String>> =
        compared.iter().map(|(name, state)| diff(&directory, name, *state, &upstream)).collect();
    let taken = if args.apply {
        apply(&directory, &compared, &upstream, known, args.force)?
    } else {
        compared.iter().map(|(_, state)| plan(*state, false)).collect()
    };
    let rows: Vec<SyncedFile> = compared
        .into_iter()
        .zip(diffs)
        .zip(taken)
        .map(|(((name, compared), diff), taken)| SyncedFile { name, compared, diff, taken })
        .collect();
    if args.json {
        out::json(&as_json(args, &directory, &upstream, &rows));
    } else {
        print(args, env, &directory, &upstream, &rows);
    }
    let kept = rows.iter().any(|row| matches!(row.taken, Taken::Kept(_)));
    Ok(if args.apply && kept { Exit::Failed } else { Exit::Done })
}

/// What was last taken from upstream; nothing without a manifest.
fn known(directory: &Path) -> Result<Manifest, CommandError> {
    match Manifest::read(directory) {
        Ok(known) => Ok(known),
        Err(ManifestError::None(_)) => Ok(Manifest::default()),
        Err(error) => Err(CommandError::bad_input(error.to_string())),
    }
}

/// What taking a changed file would do to it.
fn diff(directory: &Path, name: &str, state: Compared, upstream: &Upstream) -> Option<String> {
    let Compared::Changed { .. } = state else { return None };
    let ours = std::fs::read(directory.join(name)).ok()?;
    let theirs = upstream.files.get(name)?;
    let (ours, theirs) = (String::from_utf8_lossy(&ours), String::from_utf8_lossy(theirs));
    let diff = TextDiff::configure()
        // Two texts with nothing in common must not take forever.
        .timeout(Duration::from_secs(1))
        .diff_lines(ours.as_ref(), theirs.as_ref());
    let header = (format!("{name} (here)"), format!("{name} (upstream)"));
    Some(diff.unified_diff().header(&header.0, &header.1).to_string())
}

/// Adds a remote, so that the user can look at upstream with git.
fn add_remote(
    env: &Environment,
    directory: &Path,
    name: &str,
    url: &str,
) -> Result<(), CommandError> {
    let there = directory.ancestors().find(|d| d.is_dir()).unwrap_or(&env.current);
    let git = Git::new(there);
    if !towpath_core::is_safe_name(name) || name.starts_with('-') {
        let message = format!("--remote {}: not a valid name", clean(name));
        return Err(CommandError::bad_input(message));
    }
    git.run(&["rev-parse", "--git-dir"]).map_err(|_| {
        let shown = shown_path(there, env);
        CommandError::bad_input(format!("--remote {name}: {shown} is not in a git repository"))
    })?;
    if let Ok(old) = git.run(&["config", "--get", &format!("remote.{name}.url")]) {
        let old = String::from_utf8_lossy(&old).trim().to_owned();
        if old == url {
            return Ok(());
        }
        let old = shown_url(&old);
        return Err(CommandError::bad_input(format!(
            "--remote {name}: exists already, for {old}; choose another name"
        )));
    }
    git.run(&["remote", "add", "--", name, url])?;
    out::note(format!("added the remote {name}"));
    Ok(())
}

fn word(row: &SyncedFile) -> (&'static str, Tint) {
    match row.compared {
        Compared::Same => ("same", Tint::Dim),
        Compared::New { .. } => ("new", Tint::Good),
        Compared::Changed { .. } => ("changed", Tint::Attention),
        Compared::OnlyHere => ("only here", Tint::Dim),
    }
}

/// What was done with a file, or why nothing was.
fn remark(row: &SyncedFile, applied: bool) -> String {
    match &row.taken {
        Taken::Yes if applied => "taken over".to_owned(),
        Taken::Kept(why) => format!("{why}, kept"),
        _ => String::new(),
    }
}

fn print(
    args: &Args,
    env: &Environment,
    directory: &Path,
    upstream: &Upstream,
    rows: &[SyncedFile],
) {
    let screen = Screen::new(env);
    let folder = if upstream.path.is_empty() { "" } else { ", folder " };
    screen.line(&format!(
        "{} and {} at {}{folder}{}\n",
        shown_path(directory, env),
        shown_url(&args.url),
        &upstream.commit[..7],
        clean(&upstream.path)
    ));
    for row in rows.iter().filter(|row| row.compared != Compared::Same) {
        let (word, tint) = word(row);
        let remark = remark(row, args.apply);
        let remark = if remark.is_empty() { remark } else { format!("  ({remark})") };
        out::line(format!("{}  {}{remark}", screen.paint(tint, &format!("{word:9}")), row.name));
        for line in row.diff.iter().flat_map(|diff| diff.lines()) {
            let tint = match line.as_bytes().first() {
                Some(b'+') => Tint::Good,
                Some(b'-') => Tint::Bad,
                Some(b'@') => Tint::Dim,
                _ => Tint::None,
            };
            out::line(screen.paint(tint, &format!("    {}", clean(line))));
        }
    }
    for passed in &upstream.passed {
        out::line(format!("not taken: {}", clean(passed)));
    }
    if rows.iter().any(|row| row.compared != Compared::Same) || !upstream.passed.is_empty() {
        out::line("");
    }
    out::line(summary(args, rows));
}

fn number(rows: &[SyncedFile], is: impl Fn(&SyncedFile) -> bool) -> usize {
    rows.iter().filter(|row| is(row)).count()
}

fn summary(args: &Args, rows: &[SyncedFile]) -> String {
    let parts: Vec<String> = ["new", "changed", "only here", "same"]
        .iter()
        .map(|wanted| (number(rows, |row| word(row).0 == *wanted), wanted))
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let parts =
        if parts.is_empty() { "no recipes on either side".to_owned() } else { parts.join(", ") };
    let taken = number(rows, |row| row.taken == Taken::Yes);
    let kept = number(rows, |row| matches!(row.taken, Taken::Kept(_)));
    let end = match (args.apply, taken, kept) {
        (false, 0, 0) => "nothing to take over".to_owned(),
        (false, 0, _) => "nothing was changed".to_owned(),
        (false, taken, _) => {
            format!("nothing was changed; --apply takes over {}", count(taken, "file"))
        }
        (true, 0, 0) => "nothing to take over".to_owned(),
        (true, 0, kept) => format!("took over nothing, kept {kept}; --force takes all"),
        (true, taken, 0) => format!("took over {}", count(taken, "file")),
        (true, taken, kept) => {
            format!("took over {}, kept {kept}; --force takes all", count(taken, "file"))
        }
    };
    format!("{parts}: {end}")
}

fn as_json(
    args: &Args,
    directory: &Path,
    upstream: &Upstream,
    rows: &[SyncedFile],
) -> serde_json::Value {
    let files: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            let kept = match &row.taken {
                Taken::Kept(why) => Some(why.as_str()),
                _ => None,
            };
            serde_json::json!({
                "name": row.name,
                "state": word(row).0.replace(' ', "-"),
                "taken": args.apply && row.taken == Taken::Yes,
                "held_back": kept,
                "diff": row.diff,
            })
        })
        .collect();
    serde_json::json!({
        "schema": 1,
        "directory": escaped(directory),
        "url": shown_url(&args.url),
        "commit": upstream.commit,
        "path": upstream.path,
        "applied": args.apply,
        "files": files,
        "not_taken": upstream.passed,
    })
}
