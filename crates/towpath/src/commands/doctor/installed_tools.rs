//! Tools that were installed, and what keeps them from being used: another program of the same name that
//! comes first on PATH, or a `bin/` that is not on PATH at all. Nothing is run.

use super::finding::Finding;
use crate::environment::Environment;
use crate::terminal::format::count;
use crate::terminal::shown_path::shown_path;
use crate::tools::bin_directory::{path_line, shadowing};
use towpath_tool::install::{DamagedTool, InstalledTools};

pub fn check(env: &Environment) -> Vec<Finding> {
    let directories = env.tools();
    let InstalledTools { tools, damaged } = InstalledTools::list(&directories).unwrap_or_default();
    let in_use = || tools.iter().filter(|tool| tool.in_use);
    let mut findings: Vec<Finding> = damaged.iter().map(damage).collect();
    if tools.is_empty() {
        return findings;
    }
    let bin = directories.bin();
    if let Some((_, line)) = path_line(env, &bin) {
        let text = format!("{} is not on PATH", shown_path(&bin, env));
        findings.push(Finding::attention("bin", text, line));
        return findings;
    }
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

fn damage(DamagedTool { tool, version, problem }: &DamagedTool) -> Finding {
    let fix = format!("towpath tool install {tool}@{version}");
    Finding::attention(tool, format!("{version} is damaged ({problem})"), fix)
}

fn path_line_first(bin: &str) -> String {
    format!("export PATH={}:\"$PATH\"", towpath_shell::bash::quote(bin))
}
