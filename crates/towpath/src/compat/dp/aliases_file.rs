//! `dp aliases export` and `import`: rules in a file, and the aliases in a database of the program
//! that this name comes from.

use super::Dp;
use super::aliases::shortened;
use super::dates::utc;
use crate::corrections::shown;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::now_ms;
use crate::terminal::out;
use clap::ValueEnum;
use serde_json::json;
use std::collections::HashSet;
use std::path::PathBuf;
use towpath_core::files;
use towpath_corrections::{
    AboutRules, ImportedRules, Rule, RuleKey, RulesFormat, write_dp_aliases,
};

/// Write all rules to a file, to share them or to keep them.
///
/// Example: dp aliases export -o aliases.toml
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// The file (default: stdout).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// toml or json.
    #[arg(long, default_value = "toml")]
    format: String,
    /// The name of the collection.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// What the collection is for.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Who wrote it.
    #[arg(long, value_name = "TEXT")]
    author: Option<String>,
}

/// Read rules from a file: TOML, JSON, or a database of dp.
///
/// Example: dp aliases import ~/.dp/desires.db --dry-run
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    file: PathBuf,
    /// What becomes of a rule that is already there.
    #[arg(long, value_enum, default_value = "skip")]
    conflict: Conflict,
    /// Show what would be imported, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Conflict {
    Skip,
    Overwrite,
}

pub fn export(dp: &Dp<'_>, args: &ExportArgs) -> Result<Exit, CommandError> {
    let format = match args.format.to_lowercase().as_str() {
        "toml" => RulesFormat::Toml,
        "json" => RulesFormat::Json,
        other => {
            let message = format!("unsupported format {other:?} (use toml or json)");
            return Err(CommandError::bad_input(message));
        }
    };
    let rules = dp.book()?.rules()?;
    let about = AboutRules {
        name: args.name.clone(),
        description: args.description.clone(),
        author: args.author.clone(),
    };
    let exported_at = utc(now_ms());
    let (text, exported) = write_dp_aliases(&rules, &about, &exported_at, format);
    if exported < rules.len() {
        let left = rules.len() - exported;
        out::note(format!(
            "{left} of {} rules have no counterpart in dp and are left out; to write all of them: \
             towpath rules export",
            rules.len()
        ));
    }
    let Some(output) = &args.output else {
        out::stdout(text.as_bytes());
        return Ok(Exit::Done);
    };
    let shown = output.display();
    let path = dp.env.current.join(output);
    files::write(&path, text.as_bytes())
        .map_err(|error| CommandError::setup(format!("{shown}: {error}")))?;
    out::note(format!("Exported {exported} aliases to {shown}"));
    Ok(Exit::Done)
}

pub fn import(dp: &Dp<'_>, args: &ImportArgs) -> Result<Exit, CommandError> {
    let path = dp.env.current.join(dp.env.expand_home(&args.file));
    let ImportedRules { rules, skipped } =
        ImportedRules::read(&dp.env.current, &path).map_err(|error| shown(dp.env, error))?;
    for reason in &skipped {
        out::note(format!("  invalid, skipped: {reason}"));
    }
    if rules.is_empty() {
        out::note("No aliases found in file.");
        return Ok(Exit::Done);
    }
    let mut book = dp.book()?;
    let import = Import::new(rules, &book.rules()?, args.conflict);
    if args.dry_run {
        import.show_dry_run();
        return Ok(Exit::Done);
    }
    book.set(&[import.new.as_slice(), &import.overwritten].concat())?;
    let (imported, skipped, overwritten, total) = import.counts();
    match dp.json {
        true => out::json(&json!({
            "imported": imported,
            "skipped": skipped,
            "overwritten": overwritten,
            "total": total,
        })),
        false => out::note(format!(
            "Imported {imported}, skipped {skipped}, overwritten {overwritten} (total: {total})"
        )),
    }
    Ok(Exit::Done)
}

/// What becomes of each rule of a file.
struct Import {
    new: Vec<Rule>,
    skipped: Vec<Rule>,
    overwritten: Vec<Rule>,
}

impl Import {
    fn new(rules: Vec<Rule>, known: &[Rule], conflict: Conflict) -> Import {
        let known: HashSet<RuleKey> = known.iter().map(Rule::key).collect();
        let (old, new) = rules.into_iter().partition(|rule| known.contains(&rule.key()));
        let (skipped, overwritten) = match conflict {
            Conflict::Skip => (old, Vec::new()),
            Conflict::Overwrite => (Vec::new(), old),
        };
        Import { new, skipped, overwritten }
    }

    /// New, skipped and overwritten rules, and all of them.
    fn counts(&self) -> (usize, usize, usize, usize) {
        let counts = (self.new.len(), self.skipped.len(), self.overwritten.len());
        (counts.0, counts.1, counts.2, counts.0 + counts.1 + counts.2)
    }

    fn show_dry_run(&self) {
        for rule in &self.new {
            let to = shortened(rule.kind.to());
            out::note(format!("  import: {} -> {to}", rule.kind.from()));
        }
        for rule in &self.skipped {
            out::note(format!("  skip (exists): {}", rule.kind.from()));
        }
        for rule in &self.overwritten {
            out::note(format!("  overwrite: {}", rule.kind.from()));
        }
        let (imported, skipped, overwritten, total) = self.counts();
        out::note(format!(
            "\nDry run: {imported} would import, {skipped} would skip, {overwritten} would \
             overwrite (total: {total})"
        ));
    }
}
