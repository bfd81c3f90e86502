//! From the flags of `dp alias` to a rule: six modes that exclude each other, with the messages that
//! users of this name know.

use super::alias::AliasArgs;
use towpath_corrections::{DEFAULT_HOST, RuleKind, SHELL_PARAMETER};

impl AliasArgs {
    /// Whether the flags go together.
    pub fn check(&self) -> Result<(), String> {
        self.check_combinations()?;
        self.check_additions()
    }

    /// What the rule looks for and writes. Of a rule to delete, only what identifies it is filled.
    /// `file` is the text of `--file`.
    pub fn kind(&self, file: Option<String>) -> Result<RuleKind, String> {
        if self.recipe {
            let (from, to) = self.words_with_script("--recipe", file)?;
            return Ok(RuleKind::Recipe {
                from,
                to,
                template: !self.no_template,
                timeout: self.timeout,
            });
        }
        if self.recipe_tool {
            let (from, script) = self.words_with_script("--recipe-tool", file)?;
            return Ok(RuleKind::ToolRecipe { from, script, host: self.host() });
        }
        match (&self.cmd, &self.tool) {
            (Some(command), _) => self.on_command(command),
            (None, Some(tool)) => self.on_parameter(tool),
            (None, None) => self.tool_name(),
        }
    }

    fn check_combinations(&self) -> Result<(), String> {
        let of_tool = self.tool.is_some() || self.param.is_some();
        let others = self.cmd.is_some()
            || of_tool
            || !self.flag.is_empty()
            || self.replace.is_some()
            || self.regex;
        let rules = [
            (
                self.recipe && others,
                "--recipe cannot be combined with --cmd, --tool, --param, --flag, --replace, or \
                 --regex",
            ),
            (
                self.recipe_tool && (others || self.recipe),
                "--recipe-tool cannot be combined with --recipe, --cmd, --tool, --param, --flag, \
                 --replace, or --regex",
            ),
            (self.cmd.is_some() && of_tool, "--cmd and --tool/--param are mutually exclusive"),
            (!self.flag.is_empty() && self.cmd.is_none(), "--flag requires --cmd"),
            (self.replace.is_some() && self.cmd.is_none(), "--replace requires --cmd"),
            (self.regex && self.tool.is_none(), "--regex requires --tool/--param"),
            (
                self.tool.is_some() != self.param.is_some(),
                "--tool and --param must be used together",
            ),
            (
                !self.flag.is_empty() && self.replace.is_some(),
                "--flag and --replace are mutually exclusive",
            ),
        ];
        first(&rules)
    }

    /// Flags that belong to some of the modes.
    fn check_additions(&self) -> Result<(), String> {
        let script = self.recipe || self.recipe_tool;
        let others = self.cmd.is_some() || self.tool.is_some() || self.recipe;
        first(&[
            (self.file.is_some() && !script, "--file requires --recipe or --recipe-tool"),
            (self.no_template && !self.recipe, "--no-template requires --recipe"),
            (self.timeout.is_some() && !self.recipe, "--timeout requires --recipe"),
            (self.force && !self.recipe, "--force requires --recipe"),
            (self.valued.is_some() && self.flag.is_empty(), "--valued requires --flag"),
            (self.host.is_some() && others, "--host is for tool names: dp alias <from> <to>"),
        ])
    }

    fn words_with_script(
        &self,
        mode: &str,
        file: Option<String>,
    ) -> Result<(String, String), String> {
        match (self.delete, self.words.as_slice(), file) {
            (true, [from], _) => Ok((from.clone(), String::new())),
            (true, ..) => Err(format!("--delete {mode} requires one argument: the FROM pattern")),
            (false, [from], Some(script)) => Ok((from.clone(), script)),
            (false, _, Some(_)) => Err(format!("{mode} with --file requires one argument: FROM")),
            (false, [from, script], None) => Ok((from.clone(), script.clone())),
            (false, _, None) => Err(format!("{mode} requires two arguments: FROM SCRIPT")),
        }
    }

    fn on_command(&self, command: &str) -> Result<RuleKind, String> {
        let command = command.to_owned();
        if let Some(to) = &self.replace {
            if !self.words.is_empty() {
                return Err("--replace takes no positional arguments".to_owned());
            }
            return Ok(RuleKind::Command { from: command, to: to.clone() });
        }
        let valued = self.valued.clone().unwrap_or_default();
        match (self.flag.as_slice(), self.delete) {
            ([], true) => {
                let from = self.one_word(
                    "--delete --cmd requires one positional arg (the FROM pattern to delete)",
                )?;
                Ok(RuleKind::Literal { command, from, to: String::new() })
            }
            ([], false) => {
                let (from, to) =
                    self.two_words("--cmd requires two positional arguments: FROM TO")?;
                Ok(RuleKind::Literal { command, from, to })
            }
            ([from], true) => {
                Ok(RuleKind::Flag { command, from: from.clone(), to: String::new(), valued })
            }
            ([from, to], _) => {
                Ok(RuleKind::Flag { command, from: from.clone(), to: to.clone(), valued })
            }
            (values, _) => {
                Err(format!("--flag requires exactly two values: OLD,NEW (got {})", values.len()))
            }
        }
    }

    fn on_parameter(&self, tool: &str) -> Result<RuleKind, String> {
        let (from, to) = match self.delete {
            true => {
                let message =
                    "--delete --tool/--param requires one positional arg (the FROM pattern)";
                (self.one_word(message)?, String::new())
            }
            false => self.two_words("--tool/--param requires two positional arguments: FROM TO")?,
        };
        let tool = tool.to_owned();
        let parameter = self.param.clone().unwrap_or_else(|| SHELL_PARAMETER.to_owned());
        Ok(match self.regex {
            true => RuleKind::Regex { tool, parameter, from, to },
            false => RuleKind::ParameterLiteral { tool, parameter, from, to },
        })
    }

    fn tool_name(&self) -> Result<RuleKind, String> {
        let (from, to) = match self.delete {
            true => {
                let message = "--delete requires exactly one argument: dp alias --delete <from>";
                (self.one_word(message)?, String::new())
            }
            false => self.two_words("requires exactly two arguments: dp alias <from> <to>")?,
        };
        Ok(RuleKind::ToolName { from, to, host: self.host() })
    }

    fn host(&self) -> String {
        self.host.clone().unwrap_or_else(|| DEFAULT_HOST.to_owned())
    }

    fn one_word(&self, otherwise: &str) -> Result<String, String> {
        match self.words.as_slice() {
            [from] => Ok(from.clone()),
            _ => Err(otherwise.to_owned()),
        }
    }

    fn two_words(&self, otherwise: &str) -> Result<(String, String), String> {
        match self.words.as_slice() {
            [from, to] => Ok((from.clone(), to.clone())),
            _ => Err(otherwise.to_owned()),
        }
    }
}

/// The message of the first rule that is broken.
fn first(rules: &[(bool, &str)]) -> Result<(), String> {
    match rules.iter().find(|(broken, _)| *broken) {
        Some((_, message)) => Err((*message).to_owned()),
        None => Ok(()),
    }
}
