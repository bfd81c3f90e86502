//! Commands of one session know nothing of each other, and a session can run many.

use super::*;
use towpath_process::sandbox::SandboxError;

pub fn each_command_is_fresh(kind: Kind) {
    let mut session = open(kind);
    let script = r#"
        echo "$HOME|$PWD|$TMPDIR"
        ls -A "$HOME" . "$TMPDIR"
        [ -O "$HOME" ] && [ -O . ] && [ -O "$TMPDIR" ] && echo mine
        mkdir -p "$HOME/.config/deep" && echo left >"$HOME/.config/deep/file"
        echo left >file; echo left >"$TMPDIR/file"; chmod 0 "$HOME/.config/deep"
    "#;
    let (status, first, errors) = texts(run(&mut session, &bash(script)));
    assert_eq!((status, errors.as_str()), (EndStatus::Exited(0), ""));
    assert!(first.ends_with("mine\n"), "{first}");
    let (status, second, errors) = texts(run(&mut session, &bash(script)));
    assert_eq!((status, errors.as_str()), (EndStatus::Exited(0), ""));
    assert_eq!(first, second);
}

pub fn shared_memory_of_the_last_command_is_gone(kind: Kind) {
    let mut session = open_with(kind, &with_own_program(policy()));
    for _ in 0..2 {
        assert_eq!(texts(run(&mut session, &role("segment", &[]))).1, "new\n");
    }
}

/// What a policy shows below the private `/tmp` is no leftover of a command.
pub fn binds_below_temporary_files_stay(kind: Kind) {
    let shown = tempfile::tempdir_in("/tmp").expect("a directory");
    let directory = shown.path().join("a/b");
    std::fs::create_dir_all(&directory).expect("a directory");
    std::fs::write(directory.join("file"), "kept").expect("a file");
    for path in [shown.path(), &shown.path().join("a"), &directory] {
        open_to_all(path, 0o777);
    }
    let policy = Policy { writable: vec![directory.clone()], ..policy() };
    let mut session = open_with(kind, &policy);
    let script =
        format!("cat {0}/file; echo x >{0}/../new; echo x >/tmp/new; true", directory.display());
    for _ in 0..3 {
        assert_eq!(texts(run(&mut session, &bash(&script))).1, "kept");
    }
    drop(session);
    assert_eq!(std::fs::read_to_string(directory.join("file")).expect("a file"), "kept");
}

/// Whoever owns the directory above a bind can move it. The next command would miss what it was shown,
/// so there is none.
pub fn a_bind_that_was_moved_is_never_used(kind: Kind) {
    let shown = tempfile::tempdir_in("/tmp").expect("a directory");
    let file = shown.path().join("file");
    std::fs::write(&file, "kept").expect("a file");
    for policy in policies() {
        let policy = Policy { readable: vec![file.clone()], ..policy };
        let mut session = open_with(kind, &policy);
        let above = shown.path().display();
        let script = format!("mv {above} /tmp/moved && mkdir {above} && echo false >{above}/file");
        let moved = run(&mut session, &bash(&script)).status == EndStatus::Exited(0);
        let next = session.run(&bash(&format!("cat {above}/file")), &mut |_, _| {});
        match next {
            Ok(end) => assert_eq!((moved, end.stdout), (false, b"kept".to_vec())),
            Err(error) => assert!(moved && matches!(error, SandboxError::Gone { .. }), "{error}"),
        }
    }
}

pub fn what_a_killed_server_has_left_is_removed_later(kind: Kind) {
    let directory = |name: &str, age: u64| {
        let path =
            PathBuf::from(format!("/tmp/towpath-sandbox-{}-{name}", crate::support::run_id()));
        std::fs::create_dir_all(path.join("home/deep")).expect("a directory");
        std::fs::write(path.join("home/file"), "left").expect("a file");
        let file = std::fs::File::open(&path).expect("a directory");
        let time = std::time::SystemTime::now() - Duration::from_secs(age);
        file.set_modified(time).expect("a time");
        (path, file)
    };
    let (left, used, young) =
        (directory("left", 1000), directory("used", 1000), directory("young", 0));
    used.1.lock().expect("a lock");
    run(&mut open(kind), &bash("exit 0"));
    let stays = [&left, &used, &young].map(|(path, _)| path.exists());
    for (path, _) in [&used, &young] {
        std::fs::remove_dir_all(path).expect("removed");
    }
    assert_eq!(stays, [false, true, true]);
}

pub fn a_directory_can_be_given(kind: Kind) {
    let shown = outside();
    let policy = Policy { writable: vec![shown.path().to_owned()], ..policy() };
    let mut session = open_with(kind, &policy);
    let mut command = bash("pwd -P; echo $HOME; file=$(mktemp) && rm $file && echo temporary");
    command.environment.push(("HOME".into(), "/given".into()));
    command.directory = CommandDirectory::At(shown.path().to_owned());
    for _ in 0..2 {
        let (_, stdout, stderr) = texts(run(&mut session, &command));
        let path = std::fs::canonicalize(shown.path()).expect("a directory");
        assert_eq!(stdout, format!("{}\n/given\ntemporary\n", path.display()), "{stderr}");
    }
}

pub fn many_commands_leak_nothing(kind: Kind) {
    let files = || std::fs::read_dir("/proc/self/fd").expect("own files").count();
    // The server inherits it: with one file more for each command it would soon be at an end.
    let few = rustix::process::Rlimit { current: Some(40), maximum: Some(40) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, few).expect("a limit");
    let before = files();
    let mut session = open(kind);
    let during = files();
    let script = r#"ls /proc/self/fd | wc -l; ls -A1 "$HOME" . "$TMPDIR" | wc -l
        echo >"$HOME/left"; echo >left; exit 3"#;
    let mut first = None;
    for number in 0..200 {
        let mut command = bash(script);
        command.terminal = number % 10 == 5;
        let (status, stdout, _) = texts(run(&mut session, &command));
        assert_eq!(status, EndStatus::Exited(3), "{number}");
        let stdout = stdout.replace('\r', "");
        assert_eq!(first.get_or_insert_with(|| stdout.clone()), &stdout, "{number}");
    }
    assert_eq!(files(), during);
    drop(session);
    assert_eq!(files(), before);
}
