//! What a command does to the world, seen by `strace`.

use super::User;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a traced command did: programs started beside itself, and files it changed or could have.
#[derive(Debug, Default)]
pub struct Traced {
    pub started: Vec<String>,
    pub changed: Vec<String>,
}

const CALLS: &str = "execve,execveat,fork,vfork,clone,clone3,open,openat,openat2,creat,mkdir,\
    mkdirat,rmdir,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,\
    truncate,ftruncate,chmod,fchmod,fchmodat,mknod,mknodat,socket,kill";

pub fn traced(user: &User, arguments: &[&str]) -> Traced {
    let trace = user.path("trace");
    let plain = user.command(arguments);
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-y", "-e", &format!("trace={CALLS}"), "-o"]).arg(&trace);
    command.arg(plain.get_program()).args(arguments).current_dir(user.path("work"));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let done = command.output().expect("strace starts");
    let text = fs::read_to_string(&trace).expect("a trace");
    assert!(text.contains("execve("), "nothing was traced: {done:?}");
    let mut seen = Traced::default();
    // The first line is the command itself.
    for line in text.lines().skip(1).filter(|line| !line.contains("resumed>")) {
        let call = line.split_once(' ').map_or(line, |(_, call)| call.trim_start());
        let name = call.split('(').next().unwrap_or_default();
        match name {
            "open" | "openat" | "openat2" => {
                let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"];
                if writes.iter().any(|flag| call.contains(flag)) {
                    seen.changed.push(call.to_owned());
                }
            }
            "clone" | "clone3" if call.contains("CLONE_THREAD") => {}
            "execve" | "execveat" | "fork" | "vfork" | "clone" | "clone3" | "socket" | "kill" => {
                seen.started.push(call.to_owned());
            }
            _ if name.chars().all(|c| c.is_ascii_alphanumeric()) && call.contains('(') => {
                seen.changed.push(call.to_owned());
            }
            _ => {}
        }
    }
    seen
}

/// SQLite coordinates readers and writers through files beside the journal.
pub fn is_side_file(call: &str, state: &Path) -> bool {
    let journal = state.join("journal.db").display().to_string();
    let rest = call.split_once(&journal).map_or("", |(_, rest)| rest);
    ["-shm\"", "-shm>", "-wal\"", "-wal>"].iter().any(|side| rest.starts_with(side))
}
