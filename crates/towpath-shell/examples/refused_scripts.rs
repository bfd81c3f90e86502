//! Reads the names of shell scripts from stdin, one per line, and prints those that are refused: with
//! `--front` or `--end` when a command with a placeholder is added to them, with `--placed` where they have
//! one, with `--commands` when their commands are asked for. For `bench/accept`.

use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::ops::Range;
use towpath_shell::{ShellText, bash};

fn main() -> std::io::Result<()> {
    let mode = std::env::args().nth(1).unwrap_or_default();
    for path in stdin().lock().lines().map_while(Result::ok) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let script = String::from_utf8_lossy(&bytes);
        let text = match mode.as_str() {
            "--commands" | "--placed" => script.into_owned(),
            "--front" => format!("echo {{{{x}}}}\n{script}"),
            _ => format!("{script}\necho {{{{x}}}}\n"),
        };
        if let Some((range, message)) = refused(&text, mode == "--commands") {
            let line = text[..range.start].matches('\n').count() + 1;
            writeln!(stdout(), "{path}:{line}: {message}")?;
        }
    }
    Ok(())
}

fn refused(text: &str, commands: bool) -> Option<(Range<usize>, String)> {
    if commands {
        return bash::parse(text).err().map(|e| (e.range.clone(), e.to_string()));
    }
    let parsed = ShellText::parse_where(text, &|name| name.as_str() == "x");
    parsed.err().map(|e| (e.range, e.message))
}
