//! Tools that were installed, and what keeps them from being used: another program of the same name that
//! comes first on PATH, or a `bin/` that is not on PATH at all. Nothing is run.

use super::finding::Finding;
use crate::environment::Environment;
use crate::terminal::format::count;
use crate::terminal::shown_path::shown_path;
use crate::tools::bin_directory::{path_line, shadowing};
use crate::tools::tool_session::directories;
use towpath_tool::install::InstalledTools;

pub fn check(env: &Environment) -> Vec<Finding> {
    let directories = directories(env);
    let tools = InstalledTools::new(&directories).list().unwrap_or_default();
    let in_use = || tools.iter().filter(|tool| tool.in_use);
    if tools.is_empty() {
        return Vec::new();
    }
    let bin = directories.bin();
    if let Some((_, line)) = path_line(env, &bin) {
        let text = format!("{} is not on PATH", shown_path(&bin, env));
        return vec![Finding::attention("bin", text, line)];
    }
    let mut findings = Vec::new();
    for tool in in_use() {
        for binary in &tool.record.binaries {
            if let Some(other) = shadowing(env, &bin, &binary.name) {
                let text = format!("{} comes first on PATH", shown_path(&other, env));
                let fix = path_line_first(&bin.display().to_string());
                findings.push(Finding::attention(binary.name.clone(), text, fix));
            }
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("installed", count(in_use().count(), "tool")));
    }
    findings
}

fn path_line_first(bin: &str) -> String {
    format!("export PATH={}:\"$PATH\"", towpath_shell::bash::quote(bin))
}
