//! The arguments of each kind of rule.

use super::super::host_parser;
use super::SharedOptions;
use crate::environment::Environment;
use crate::exit::CommandError;
use std::path::{Path, PathBuf};
use towpath_core::files::{MOST_TEXT, read_text};
use towpath_corrections::host::Host;
use towpath_corrections::{DEFAULT_HOST, RuleKind, SHELL_PARAMETER, SHELL_TOOL};

#[derive(Debug, clap::Subcommand)]
pub enum KindArgs {
    Command(CommandArgs),
    Flag(FlagArgs),
    #[command(alias = "tool-name")]
    Tool(ToolArgs),
    Refuse(RefuseArgs),
    Recipe(RecipeArgs),
    ToolRecipe(ToolRecipeArgs),
    Literal(LiteralArgs),
    Regex(RegexArgs),
}

/// Replace the words that a command begins with.
///
/// Example: towpath rules add command "npm install" "pnpm add"
#[derive(Debug, clap::Args)]
pub struct CommandArgs {
    /// The words that the agent types, such as grep or "npm install".
    from: String,
    /// The words to use instead.
    to: String,
    #[command(flatten)]
    shared: SharedOptions,
}

/// Replace or drop one option of a command.
///
/// The option is found in a group of letters too: -ar becomes -aR. An option that this command has
/// itself, such as --json, is written after two dashes: flag gh -- --json --format.
///
/// Example: towpath rules add flag "git push" --force --force-with-lease
#[derive(Debug, clap::Args)]
pub struct FlagArgs {
    /// The command that the option belongs to, such as grep or "git commit".
    command: String,
    /// The option that the agent types, such as -r or --assign.
    #[arg(allow_hyphen_values = true)]
    old: String,
    /// The option to use instead.
    #[arg(allow_hyphen_values = true, required_unless_present = "drop")]
    new: Option<String>,
    /// Drop the option.
    #[arg(long, conflicts_with = "new")]
    drop: bool,
    /// Letters of this command that take a value, so that the value is not read as letters.
    #[arg(long, value_name = "LETTERS", default_value = "", hide_default_value = true)]
    valued: String,
    #[command(flatten)]
    shared: SharedOptions,
}

/// Name the right tool when the agent calls one that does not exist.
///
/// Example: towpath rules add tool read_file Read
#[derive(Debug, clap::Args)]
pub struct ToolArgs {
    /// The tool that the agent calls.
    from: String,
    /// The tool to use instead.
    to: String,
    /// The agent program in which the tool does not exist.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_HOST, value_parser = host_parser())]
    host: Host,
    #[command(flatten)]
    shared: SharedOptions,
}

/// Refuse a command, and show the agent what to do instead.
///
/// It looks at what runs: the program may have a path, options may come before the subcommand, and a
/// shell may read the command as text. This helps an agent that means well. It is no security boundary.
///
/// Example: towpath rules add refuse "git push" --option --force,-f --message "use --force-with-lease"
#[derive(Debug, clap::Args)]
pub struct RefuseArgs {
    /// The program, and its subcommand.
    prefix: String,
    /// Only with one of these options, wherever in the command it is; commas between them.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, default_value = "")]
    #[arg(hide_default_value = true)]
    option: String,
    #[command(flatten)]
    shared: SharedOptions,
}

/// Replace a whole command by a script.
///
/// {{.Arg 1}} in the script is the first argument after the words of the command, {{.Args}} are all of
/// them. Redirections, pipes and the rest of the line stay.
///
/// Example: towpath rules add recipe "gt wait" 'until gt status | grep -q ready; do sleep 5; done'
#[derive(Debug, clap::Args)]
pub struct RecipeArgs {
    /// The words that the command begins with.
    from: String,
    /// The script, in bash.
    #[arg(required_unless_present = "file")]
    script: Option<String>,
    /// Read the script from a file, or from stdin with -.
    #[arg(long, value_name = "FILE", conflicts_with = "script")]
    file: Option<PathBuf>,
    /// Take {{...}} in the script as it is written.
    #[arg(long)]
    no_template: bool,
    /// The timeout of the call in seconds, for a script that waits long.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// Accept a script that is not understood as bash.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    shared: SharedOptions,
}

/// Answer a call of a tool that does not exist with a script to run.
///
/// Example: towpath rules add tool-recipe await_signal 'until gt status | grep -q ready; do sleep 5; done'
#[derive(Debug, clap::Args)]
pub struct ToolRecipeArgs {
    /// The tool that the agent calls.
    from: String,
    /// The script that the agent is shown.
    #[arg(required_unless_present = "file")]
    script: Option<String>,
    /// Read the script from a file, or from stdin with -.
    #[arg(long, value_name = "FILE", conflicts_with = "script")]
    file: Option<PathBuf>,
    /// The agent program in which the tool does not exist.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_HOST, value_parser = host_parser())]
    host: Host,
    #[command(flatten)]
    shared: SharedOptions,
}

/// Replace text in the words of one command, or in a parameter of a tool.
///
/// Example: towpath rules add literal --command curl http://internal https://internal.example
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("where").required(true))]
pub struct LiteralArgs {
    /// The text to look for.
    #[arg(allow_hyphen_values = true)]
    from: String,
    /// The text to write instead.
    #[arg(allow_hyphen_values = true)]
    to: String,
    /// In the words of this command, such as curl or "git commit".
    #[arg(long, value_name = "COMMAND", group = "where")]
    command: Option<String>,
    /// In a parameter of this tool; Bash is the shell of any agent program.
    #[arg(long, value_name = "TOOL", group = "where")]
    tool: Option<String>,
    /// The parameter.
    #[arg(long, alias = "param", value_name = "NAME", default_value = SHELL_PARAMETER)]
    parameter: String,
    #[command(flatten)]
    shared: SharedOptions,
}

/// Replace what a regular expression matches.
///
/// It is matched against the whole command line, but not inside quotes, here-documents and comments. $1
/// or ${1} in the replacement is the first group.
///
/// Example: towpath rules add regex 'curl -k\b' 'curl --cacert ca.pem'
#[derive(Debug, clap::Args)]
pub struct RegexArgs {
    /// The regular expression.
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// The text to write instead.
    #[arg(allow_hyphen_values = true)]
    to: String,
    /// In a parameter of this tool; Bash is the shell of any agent program.
    #[arg(long, value_name = "TOOL", default_value = SHELL_TOOL)]
    tool: String,
    /// The parameter.
    #[arg(long, alias = "param", value_name = "NAME", default_value = SHELL_PARAMETER)]
    parameter: String,
    #[command(flatten)]
    shared: SharedOptions,
}

impl KindArgs {
    pub fn shared(&self) -> &SharedOptions {
        match self {
            KindArgs::Command(args) => &args.shared,
            KindArgs::Flag(args) => &args.shared,
            KindArgs::Tool(args) => &args.shared,
            KindArgs::Refuse(args) => &args.shared,
            KindArgs::Recipe(args) => &args.shared,
            KindArgs::ToolRecipe(args) => &args.shared,
            KindArgs::Literal(args) => &args.shared,
            KindArgs::Regex(args) => &args.shared,
        }
    }

    pub fn force(&self) -> bool {
        matches!(self, KindArgs::Recipe(args) if args.force)
    }

    pub fn kind(&self, env: &Environment) -> Result<RuleKind, CommandError> {
        Ok(match self {
            KindArgs::Command(CommandArgs { from, to, .. }) => {
                RuleKind::Command { from: from.clone(), to: to.clone() }
            }
            KindArgs::Flag(FlagArgs { command, old, new, valued, .. }) => RuleKind::Flag {
                command: command.clone(),
                from: old.clone(),
                to: new.clone().unwrap_or_default(),
                valued: valued.clone(),
            },
            KindArgs::Tool(ToolArgs { from, to, host, .. }) => RuleKind::ToolName {
                from: from.clone(),
                to: to.clone(),
                host: host.name().to_owned(),
            },
            KindArgs::Refuse(RefuseArgs { prefix, option, .. }) => {
                RuleKind::Refuse { from: prefix.clone(), option: option.clone() }
            }
            KindArgs::Recipe(args) => RuleKind::Recipe {
                from: args.from.clone(),
                to: script(env, args.script.as_ref(), args.file.as_deref())?,
                template: !args.no_template,
                timeout: args.timeout,
            },
            KindArgs::ToolRecipe(args) => RuleKind::ToolRecipe {
                from: args.from.clone(),
                script: script(env, args.script.as_ref(), args.file.as_deref())?,
                host: args.host.name().to_owned(),
            },
            KindArgs::Literal(args) => literal(args),
            KindArgs::Regex(RegexArgs { pattern, to, tool, parameter, .. }) => RuleKind::Regex {
                tool: tool.clone(),
                parameter: parameter.clone(),
                from: pattern.clone(),
                to: to.clone(),
            },
        })
    }
}

fn literal(args: &LiteralArgs) -> RuleKind {
    let (from, to) = (args.from.clone(), args.to.clone());
    match (&args.command, &args.tool) {
        (Some(command), _) => RuleKind::Literal { command: command.clone(), from, to },
        (None, tool) => RuleKind::ParameterLiteral {
            tool: tool.clone().unwrap_or_default(),
            parameter: args.parameter.clone(),
            from,
            to,
        },
    }
}

/// A script that was typed, or is in a file. A file ends with a line break, which is no part of it.
fn script(
    env: &Environment,
    typed: Option<&String>,
    file: Option<&Path>,
) -> Result<String, CommandError> {
    let Some(file) = file else { return Ok(typed.cloned().unwrap_or_default()) };
    let path = match file == Path::new("-") {
        true => PathBuf::from("/dev/stdin"),
        false => env.current.join(env.expand_home(file)),
    };
    let text = read_text(&path, MOST_TEXT)
        .map_err(|error| CommandError::bad_input(format!("{}: {error}", file.display())))?;
    Ok(text.trim_end_matches('\n').to_owned())
}
