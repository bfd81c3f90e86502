//! A program that turns against the sandbox itself.

use super::*;

pub fn nothing_is_inherited(kind: Kind) {
    let mut session = open(kind);
    let script = "ls -v /proc/self/fd | tr '\\n' ' '; cat /proc/self/status
                  env | sort; ulimit -c";
    let (_, stdout, _) = texts(run(&mut session, &bash(script)));
    // The fourth is the directory that `ls` reads.
    assert!(stdout.starts_with("0 1 2 3 "), "{stdout}");
    for mask in ["SigBlk", "SigIgn", "SigCgt"] {
        assert!(stdout.contains(&format!("{mask}:\t0000000000000000\n")), "{stdout}");
    }
    let names: Vec<&str> =
        stdout.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert_eq!(names, ["HOME", "PATH", "PWD", "SHLVL", "TMPDIR", "_"]);
    assert!(stdout.ends_with("\n0\n"), "no core is dumped: {stdout}");
}

pub fn the_server_cannot_be_reached(kind: Kind) {
    for policy in policies() {
        let mut session = open_with(kind, &with_own_program(policy));
        let (_, parent, _) = texts(run(&mut session, &bash("echo $PPID")));
        let (status, stdout, stderr) = texts(run(&mut session, &role("reach", &[parent.trim()])));
        assert_eq!((status, stdout.as_str()), (EndStatus::Exited(0), "[]\n"), "{stderr}");
        assert_eq!(run(&mut session, &bash("exit 4")).status, EndStatus::Exited(4));
    }
}

pub fn all_processes_are_killed_but_the_server(kind: Kind) {
    let mut session = open(kind);
    let end = run(&mut session, &bash("kill -9 -1; kill -9 1; kill -STOP 1; kill -9 $$"));
    assert_eq!(end.status, EndStatus::Signaled(9));
    assert_eq!(run(&mut session, &bash("exit 4")).status, EndStatus::Exited(4));
}

/// Where the tests run as root, this is what keeps root inside.
pub fn root_has_no_power_over_the_machine(kind: Kind) {
    let directory = outside();
    let writable = vec![directory.path().to_owned()];
    let policy = Policy { drop_user: false, writable, ..policy() };
    let script = r"
        mknod disk b 254 0 && echo device
        mknod memory c 1 1 && echo device
        mount -t tmpfs none . && umount . && echo mounted
        mount --bind . . && umount . && echo mounted
        chroot / true && echo chroot
        cat /proc/sys/kernel/hostname >/proc/sys/kernel/hostname && echo sysctl
        nice -n -5 true 2>&1 | grep -q . || echo nice
        grep -E 'CapEff|NoNewPrivs' /proc/self/status
    ";
    let mut command = bash(script);
    command.directory = CommandDirectory::At(directory.path().to_owned());
    let (_, stdout, _) = texts(run(&mut open_with(kind, &policy), &command));
    let stdout: Vec<&str> = stdout.lines().collect();
    let [capabilities, "NoNewPrivs:\t1"] = stdout[..] else { panic!("{stdout:?}") };
    // Rights over files alone: to change owner, mode and what is written.
    let allowed = ["CapEff:\t0000000000000000", "CapEff:\t000000000000001b"];
    assert!(allowed.contains(&capabilities), "{capabilities}");
}
