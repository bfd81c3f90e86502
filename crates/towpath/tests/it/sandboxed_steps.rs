//! `sandbox: true`: a command that reaches its working directory, the system's own programs and nothing
//! else, also when the run is resumed, and that does not run where nothing would confine it.

use crate::support::{Printed, User};
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::Duration;

fn bash(id: &str, more: &str, command: &str) -> String {
    let lines: Vec<String> = command.trim().lines().map(|line| format!("      {line}\n")).collect();
    format!("  - id: {id}\n{more}    command: |\n{}", lines.concat())
}

fn recipe(steps: &[String]) -> String {
    format!("name: r\nsandbox: true\nsteps:\n{}", steps.concat())
}

fn work(user: &User) -> String {
    user.path("work").canonicalize().expect("a directory").display().to_string()
}

#[test]
fn a_sandboxed_command_writes_its_directory_and_nothing_else() {
    let user = User::on_disk();
    fs::create_dir(user.path("other")).expect("a folder");
    fs::write(user.path("other/secret"), "another project's").expect("a file");
    fs::write(user.path("note"), "in the user's home").expect("a file");
    let home = user.path("").display().to_string();
    let try_all = format!(
        "exec 2> /dev/null
echo inside > written
ls {home} | tr '\\n' ' '; echo
cat {home}/note ../note || echo no note
cat ../other/secret {home}/other/secret || echo no secret
echo x > {home}/escaped; echo x > /tmp/escaped; echo x > $HOME/.escaped
echo x > /usr/escaped || echo no system
echo x > /etc/escaped || echo no settings
echo private > $HOME/mine && cat $HOME/mine
[ -z \"$(ls -A /run)\" ] && echo own run
[ -z \"$(ls -d /home/* /root/* /srv/* /mnt/*)\" ] && echo no homes
cat written"
    );
    user.write("r.yaml", &recipe(&[bash("a", "", &try_all)]));
    user.towpath(&["run", "r.yaml", "-q"]).exits(0).prints(
        "work \nno note\nno secret\nno system\nno settings\nprivate\nown run\nno homes\ninside\n",
    );
    assert_eq!(user.read("written"), "inside\n");
    let escaped = [user.path("escaped"), user.path(".escaped"), "/tmp/escaped".into()];
    assert!(escaped.iter().all(|file| !file.exists()));
}

#[test]
fn a_sandboxed_command_reaches_no_listener() {
    let user = User::on_disk();
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let unix = UnixListener::bind(user.path("socket")).expect("a socket");
    let (tcp_port, udp_port) =
        (tcp.local_addr().expect("its own").port(), udp.local_addr().expect("its own").port());
    let socket = user.path("socket").display().to_string();
    let try_all = format!(
        "(echo x > /dev/tcp/127.0.0.1/{tcp_port}) 2> /dev/null && echo reached
(echo x > /dev/udp/127.0.0.1/{udp_port}) 2> /dev/null
[ -e {socket} ] && echo seen
echo done"
    );
    user.write("r.yaml", &recipe(&[bash("a", "", &try_all)]));
    user.towpath(&["run", "r.yaml", "-q"]).exits(0).prints("done\n");
    tcp.set_nonblocking(true).expect("a mode");
    unix.set_nonblocking(true).expect("a mode");
    udp.set_read_timeout(Some(Duration::from_millis(100))).expect("a mode");
    assert_eq!(tcp.accept().expect_err("nobody came").kind(), ErrorKind::WouldBlock);
    assert!(udp.recv(&mut [0; 8]).is_err() && unix.accept().is_err());
    // The same command reaches them without a sandbox: so the ports are right.
    user.write("r.yaml", &format!("name: r\nsteps:\n{}", bash("a", "", &try_all)));
    user.towpath(&["run", "r.yaml", "-q"]).exits(0).prints("reached\nseen\ndone\n");
    assert!(tcp.accept().is_ok() && udp.recv(&mut [0; 8]).is_ok());
}

#[test]
fn values_hooks_outputs_and_exit_codes_are_as_ever() {
    let user = User::on_disk();
    fs::create_dir(user.path("work/sub")).expect("a folder");
    let steps = [
        bash("first", "", "printf '%s\n' {{given}}"),
        bash(
            "second",
            "    working_dir: sub\n",
            "echo {{first}} > got; pwd; env | grep RECIPE_VAR; exit 7",
        )
        .replace("env | grep RECIPE_VAR", "echo \"$RECIPE_VAR_given\""),
    ];
    let hooks = "name: r\nhooks: {pre_step: 'ls ../note > /dev/null && echo hooked >> hooks'}\n";
    fs::write(user.path("note"), "").expect("a file");
    user.write("r.yaml", &recipe(&steps).replace("name: r\n", hooks));
    let given = "given=it's $(touch ran) \"quoted\"";
    let printed = user.towpath(&["run", "r.yaml", "--set", given]).exits(1);
    let value = given.strip_prefix("given=").expect("a value");
    let printed = printed.shows(&format!("{value}\n{}/sub\n{value}\n", work(&user)));
    printed.reports("exit 7");
    assert_eq!(user.read("sub/got"), format!("{value}\n"));
    assert_eq!(user.count("hooks", "hooked"), 2, "hooks are not confined");
}

#[test]
fn a_resume_confines_again() {
    let user = User::on_disk();
    fs::write(user.path("note"), "").expect("a file");
    let steps = [bash("a", "", "[ -e ../note ] && echo escaped; [ -e go ] && echo went")];
    user.write("r.yaml", &recipe(&steps));
    user.towpath(&["run", "r.yaml"]).exits(1);
    user.write("go", "");
    let resumed = user.towpath(&["resume", "--last"]).exits(0).shows("went\n");
    assert!(!resumed.stdout.contains("escaped"), "{}", resumed.stdout);
    let run = user.run();
    let shown = user.towpath(&["show", run.as_str(), "--json"]).exits(0).json();
    let kind = shown["sandbox"]["kind"].as_str().expect("a kind").to_owned();
    assert!(["bubblewrap", "namespaces"].contains(&kind.as_str()), "{shown}");
    assert_eq!(shown["sandbox"]["not_enforced"], serde_json::json!([]));
    user.towpath(&["show", run.as_str()]).exits(0).shows(&format!("sandbox {kind}\n"));
}

#[test]
fn what_it_leaves_in_the_background_ends_with_it() {
    let user = User::on_disk();
    let steps = [
        bash("a", "", "exec 5> lock; flock 5; setsid sleep 300 & echo begun"),
        bash("b", "    sandbox: false\n", "flock --nonblock lock echo free"),
    ];
    user.write("r.yaml", &recipe(&steps));
    user.towpath(&["run", "r.yaml", "-q"]).exits(0).prints("begun\nfree\n");
}

#[test]
fn a_timeout_ends_it_and_everything_in_it() {
    let user = User::on_disk();
    let steps = [
        bash(
            "a",
            "    timeout: 1\n    continue_on_error: true\n",
            "exec 5> lock; flock 5; sleep 300 & sleep 300",
        ),
        bash("b", "    sandbox: false\n", "flock --nonblock lock echo free"),
    ];
    user.write("r.yaml", &recipe(&steps));
    user.towpath(&["run", "r.yaml", "-q"]).exits(0).prints("free\n");
}

/// Neither bubblewrap nor namespaces nor Landlock, as on a machine that forbids all of them.
fn without_sandbox(user: &User, arguments: &[&str]) -> Printed {
    let plain = user.command(arguments);
    // By its path: nothing is on the PATH that the program gets.
    let mut strace = ["/usr/bin/strace", "/usr/local/bin/strace"].into_iter();
    let strace = strace.find(|path| fs::exists(path).unwrap_or(false));
    let mut command = Command::new(strace.expect("strace is installed"));
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=unshare,landlock_create_ruleset"]);
    command.args(["-e", "inject=unshare,landlock_create_ruleset:error=EPERM"]);
    command.arg(plain.get_program()).args(arguments).current_dir(user.path("work"));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("PATH", user.path("no-programs"));
    Printed::from(command.output().expect("strace starts"))
}

#[test]
fn without_a_sandbox_the_run_is_refused_before_its_first_step() {
    let user = User::on_disk();
    let steps =
        [bash("free", "    sandbox: false\n", "echo x > ran"), bash("a", "", "echo x > ran")];
    user.write("r.yaml", &recipe(&steps));
    let refused = without_sandbox(&user, &["run", "r.yaml"]).exits(5);
    let refused = refused.reports(
        "error: step a of r must run in a sandbox: no sandbox can be made on this machine: \
         bubblewrap: `bwrap` is not installed; namespaces: ",
    );
    refused.reports("nothing was run");
    let json = without_sandbox(&user, &["run", "r.yaml", "--json"]).exits(5).json();
    assert_eq!(json["error"]["kind"], "no-sandbox");
    assert_eq!((user.newest(), user.path("work/ran").exists()), (None, false));

    // A run that has begun is not resumed without.
    user.write("r.yaml", &recipe(&[bash("a", "", "[ -e go ] && echo x > ran")]));
    user.towpath(&["run", "r.yaml"]).exits(1);
    user.write("go", "");
    let run = user.run();
    let facts = user.facts(&run).len();
    without_sandbox(&user, &["resume", run.as_str()]).exits(5).reports("step a of r must run in");
    assert_eq!((user.facts(&run).len(), user.path("work/ran").exists()), (facts, false));
}

#[test]
fn a_required_tool_can_be_used_in_a_sandbox() {
    let user = User::on_disk();
    user.program(
        "home/data/tools/.installs/tool/1/bin/tool",
        "#!/bin/sh\ncat \"$(dirname $0)/../data\"\n",
    );
    let install = user.path("home/data/tools/.installs/tool/1");
    fs::write(install.join("data"), "tool 1.0\n").expect("a file");
    let record = crate::requires::install_record("tool", "1.0", "tool");
    fs::write(install.join("towpath-tool.json"), record).expect("a record");
    fs::create_dir(user.path("home/data/tools/tool")).expect("a folder");
    let link = user.path("home/data/tools/tool/1.0");
    std::os::unix::fs::symlink(&install, &link).expect("a link");
    user.program("bin/other", "#!/bin/sh\necho other\n");
    let steps = [bash(
        "a",
        "    requires: [tool, other]\n",
        "tool; other; ls -d ../home/state || echo no state",
    )];
    user.write("r.yaml", &recipe(&steps));
    let path = format!("{}:/usr/bin:/bin", user.path("bin").display());
    let output = user.command(&["run", "r.yaml", "-q"]).env("PATH", path).output();
    Printed::from(output.expect("towpath starts")).exits(0).prints("tool 1.0\nother\nno state\n");
}

#[test]
fn it_is_shown_before_it_runs() {
    let user = User::on_disk();
    user.write(
        "r.yaml",
        &recipe(&[bash("a", "", "echo x"), bash("b", "    sandbox: false\n", "echo y")]),
    );
    user.towpath(&["run", "r.yaml", "--dry-run"]).exits(0).shows("in a sandbox");
    let planned = user.towpath(&["run", "r.yaml", "--dry-run", "--json"]).exits(0).json();
    assert_eq!(
        (&planned["steps"][0]["sandbox"], &planned["steps"][1]["sandbox"]),
        (&true.into(), &false.into())
    );
    user.towpath(&["explain", "r.yaml"]).exits(0).shows("in a sandbox");
    let explained = user.towpath(&["explain", "r.yaml", "--json"]).exits(0).json();
    assert_eq!(explained["recipes"][0]["steps"][0]["sandbox"], true);
    let refused = "name: r\nsteps:\n  - {id: a, prompt: x, sandbox: true}\n";
    user.write("ask.yaml", refused);
    user.towpath(&["validate", "ask.yaml"]).exits(2).shows("an agent needs the network");
}
