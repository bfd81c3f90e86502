//! Reads the names of shell scripts from stdin, one per line, and prints those that are refused when
//! a command with a placeholder is added to them. For `bench/accept`.

use std::io::{BufRead, Write, stdin, stdout};
use towpath_shell::ShellText;

fn main() -> std::io::Result<()> {
    let front = std::env::args().nth(1).as_deref() == Some("--front");
    for path in stdin().lock().lines().map_while(Result::ok) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let script = String::from_utf8_lossy(&bytes);
        let text = match front {
            true => format!("echo {{{{x}}}}\n{script}"),
            false => format!("{script}\necho {{{{x}}}}\n"),
        };
        if let Err(error) = ShellText::parse_where(&text, &|name| name.as_str() == "x") {
            let line = text[..error.range.start].matches('\n').count() + 1;
            writeln!(stdout(), "{path}:{line}: {}", error.message)?;
        }
    }
    Ok(())
}
