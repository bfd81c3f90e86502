//! Installs that are killed, and two at once.

use super::release_server::ReleaseServer;
use super::{GREET, create, installs, visible};
use crate::support::{User, kill_hard, until};
use std::fs;
use std::process::Stdio;

/// Does not end, so that an install can be killed while the tool is verified.
const HANGING: &str = "#!/bin/sh\nsleep 300\n:\n";

fn processes_with(text: &str) -> usize {
    let entries = fs::read_dir("/proc").expect("there are processes").flatten();
    let command = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).ok();
    let has = |line: &Vec<u8>| String::from_utf8_lossy(line).contains(text);
    entries.filter_map(command).filter(has).count()
}

#[test]
fn a_kill_leaves_nothing_visible_and_the_next_install_cleans_up() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let url = server.tool(&user, "greet", "1.2.0", HANGING);
    let from = format!("url:{url}");
    let mut child = user
        .command(&["tool", "create", "greet", "--from", &from])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("towpath starts");
    let install = user.path("home/data/tools/.installs/greet").display().to_string();
    until("the tool is verified", || processes_with(&format!("{install}/1.2.0-1/")) > 0);
    kill_hard(&mut child);
    until("its processes are gone", || processes_with(&install) == 0);
    assert_eq!(visible(&user), Vec::<String>::new());
    assert_eq!(installs(&user, "greet"), 1, "the leftover of the kill");
    // The same file name with other contents, since the fetched one is kept.
    let url = server.tool(&user, "greet", "1.2.1", GREET);
    create(&user, "greet", &url, &[]).exits(0);
    assert_eq!(installs(&user, "greet"), 1, "only the new install");
    assert_eq!(visible(&user), ["greet", "greet", "greet/1.2.1"]);
}

#[test]
fn two_installers_at_once_make_one_install() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let slow = GREET.replace("#!/bin/sh\n", "#!/bin/sh\nsleep 1\n");
    let from = format!("url:{}", server.tool(&user, "greet", "1.2.0", &slow));
    let start = || {
        let mut command = user.command(&["tool", "create", "greet", "--from", &from, "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("towpath starts")
    };
    let children = [start(), start(), start()];
    let mut statuses: Vec<String> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().expect("it ends");
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{error}");
            let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
            json["status"].as_str().unwrap_or_default().to_owned()
        })
        .collect();
    statuses.sort();
    assert_eq!(statuses, ["already-installed", "already-installed", "installed"]);
    assert_eq!(installs(&user, "greet"), 1);
}
