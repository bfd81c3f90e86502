//! Probes beside the shared cases: one row each for what real programs print, and for broken installs
//! that the rules of the detector are meant for.

use towpath_tool::{Observation, ProcessEnd, Verdict, judge};

/// The tool, its argument, the exit code, what it printed, the verdict and the version.
type Row = (&'static str, &'static str, i32, &'static str, Verdict, &'static str);

const ROWS: &[Row] = &[
    // A runtime that is too old, or a fatal error, beside a version.
    (
        "heron",
        "--version",
        1,
        "heron 2.4.1 requires Python 4.2 or later, and this is Python 3.11\n",
        Verdict::Broken,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "heron 2.4.1 requires Node.js 99.0.0 or newer, this is v20.20.2\n",
        Verdict::Broken,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "heron 2.4.1: fatal error: cannot load birds.db\n",
        Verdict::Broken,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "heron 2.4.1\nheron: fatal: cannot load the plugin core: file not found\n",
        Verdict::Broken,
        "",
    ),
    (
        "heron",
        "--version",
        128,
        "fatal: cannot open '--version': No such file or directory\n",
        Verdict::Alive,
        "",
    ),
    ("heron", "--version", 1, "heron: fatal: cannot open display\n", Verdict::Environment, ""),
    // Another program's rejection shows nothing of the tool.
    ("heron", "--version", 2, "bittern: invalid option\n", Verdict::Unknown, ""),
    ("heron", "--version", 2, "error: invalid option\n", Verdict::Alive, ""),
    ("egrep", "--wrong", 2, "grep: unrecognized option '--wrong'\n", Verdict::Alive, ""),
    // A program that prints its version and then gives up.
    (
        "heron",
        "--version",
        1,
        "heron 2.4.1\nERROR: data directory /usr/lib/heron/data does not exist\n",
        Verdict::Unknown,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "heron 2.4.1\nCould not find templates in /usr/share/heron/templates, aborting\n",
        Verdict::Unknown,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "heron 2.4.1\nfatal: /etc/heron/heron.conf:3: syntax error\n",
        Verdict::Unknown,
        "",
    ),
    ("heron", "--version", 3, "heron 2.4.1: evaluation period is over\n", Verdict::Environment, ""),
    (
        "heron",
        "--version",
        1,
        "error: unknown option -\n\nHeron, version 2.4.1 of 25 April 2021\n",
        Verdict::WorksByVersion,
        "2.4.1",
    ),
    (
        "heron",
        "--version",
        1,
        "Heron 2.4.1\ncritical: asset archive has wrong checksum\n",
        Verdict::Unknown,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "This is a stub for heron 2.4.1. Download the real program first.\n",
        Verdict::Unknown,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "birds: heron (2.4.1): distribution is gone\n",
        { Verdict::Unknown },
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "heron 2.4.1 (12 August 2022) threads\nCopyright 2005 the authors\nYou can redistribute\nit\n",
        Verdict::WorksByVersion,
        "2.4.1",
    ),
    // The tool itself is what is not installed.
    ("heron", "--version", 1, "mise ERROR heron@2.4.1 not installed\n", Verdict::Broken, ""),
    (
        "heron",
        "--version",
        1,
        "Could not find heron 2.4.1. Use `fvm install` to install it.\n",
        Verdict::Broken,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "error: unknown option -\nheron 2.4.1\nnote: git is not installed\n",
        { Verdict::WorksByVersion },
        "2.4.1",
    ),
    // Scores and other state of the machine are no part of an install.
    (
        "cribbage",
        "--version",
        1,
        "cribbage: fopen /var/games/bsdgames/criblog: No such file or directory\n\
         cribbage: invalid option -- '-'\nusage: cribbage [-eqr]\n",
        Verdict::WorksByHelp,
        "",
    ),
    (
        "battlestar",
        "--version",
        1,
        "Version 4.2, fall 1984.\nbattlestar: open /var/games/bsdgames/battlestar.log for append: \
         No such file or directory\n",
        Verdict::WorksByVersion,
        "4.2",
    ),
    (
        "heron",
        "--version",
        1,
        "heron: /usr/share/heron/birds.db: No such file or directory\n",
        Verdict::Broken,
        "",
    ),
    // More of what interpreters print.
    (
        "heron",
        "--version",
        2,
        "Can't locate loadable object for module Heron::Birds in @INC (@INC contains: /etc/perl)\n",
        Verdict::Broken,
        "",
    ),
    (
        "heron",
        "--version",
        255,
        "Heron::Birds version 2.4 required--this is only version 1.0 at /usr/bin/heron line 4.\n",
        Verdict::Broken,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "Error: Invalid or corrupt jarfile /usr/share/heron/heron.jar\n",
        Verdict::Broken,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "couldn't read file \"/usr/share/heron/main.tcl\": no such file or directory\n",
        Verdict::Broken,
        "",
    ),
    (
        "heron",
        "--version",
        2,
        "/usr/bin/heron: 3: cd: can't cd to /opt/heron-absent\n",
        Verdict::Broken,
        "",
    ),
    (
        "heron",
        "--version",
        1,
        "Error: /usr/lib/heron/heron.node: invalid ELF header\n",
        Verdict::Broken,
        "",
    ),
    // Programs that answer in their own words.
    ("llvm-lto2", "--version", 1, "Available subcommands: dump-symtab run\n", Verdict::Alive, ""),
    (
        "gpgrt-config",
        "--version",
        1,
        "Please use --libdir=LIBDIR option or set PKG_CONFIG_LIBDIR\n",
        Verdict::Alive,
        "",
    ),
    (
        "ssh-argv0",
        "--version",
        1,
        "ssh-argv0: This script should not be run like this, see ssh-argv0(1) for details\n",
        Verdict::Alive,
        "",
    ),
    ("funzip", "--version", 3, "funzip error: input not a zip or gzip file\n", Verdict::Alive, ""),
    (
        "hmac256",
        "--version",
        0,
        "hmac256 (Libgcrypt) standalone\nCopyright (C) 2008 Free Software Foundation, Inc.\n",
        Verdict::Alive,
        "",
    ),
    (
        "make-ssl-cert",
        "--version",
        1,
        "debconf: DbDriver \"config\": could not open\n",
        Verdict::Environment,
        "",
    ),
    (
        "sensible-browser",
        "--version",
        1,
        "Set the BROWSER environment variable to your desired browser.\n",
        Verdict::Environment,
        "",
    ),
    (
        "select-editor",
        "--version",
        1,
        "update-alternatives: error: no alternatives for editor\n",
        Verdict::Environment,
        "",
    ),
    (
        "pwhistory_helper",
        "--version",
        4,
        "This binary is not designed for running in this way.\n",
        Verdict::Environment,
        "",
    ),
    (
        "gdk-pixbuf-csource",
        "--version",
        0,
        "gdk-pixbuf-csource-3.0 version 2.42.10\n",
        Verdict::WorksByVersion,
        "2.42.10",
    ),
    ("go", "version", 0, "go version go1.21.5 linux/amd64\n", Verdict::WorksByVersion, "1.21.5"),
    ("java", "-version", 0, "java version \"1.8.0_381\"\n", Verdict::WorksByVersion, "1.8.0_381"),
    ("strace", "--version", 0, "strace -- version 6.1\n", Verdict::WorksByVersion, "6.1"),
    ("nginx", "-v", 0, "nginx version: nginx/1.22.1\n", Verdict::WorksByVersion, "1.22.1"),
    (
        "bash",
        "--version",
        0,
        "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n",
        Verdict::WorksByVersion,
        "5.2.15",
    ),
    (
        "redis-server",
        "--version",
        0,
        "Redis server v=7.0.15 sha=00000000:0 bits=64\n",
        Verdict::WorksByVersion,
        "7.0.15",
    ),
    (
        "helm",
        "version",
        0,
        "version.BuildInfo{Version:\"v3.14.0\", GoVersion:\"go1.21.5\"}\n",
        Verdict::WorksByVersion,
        "3.14.0",
    ),
    ("dc", "--version", 0, "dc (GNU bc 1.07.1) 1.4.1\n", Verdict::WorksByVersion, "1.4.1"),
    ("gcc", "--version", 0, "gcc (Debian 12.2.0-14) 12.2.0\n", Verdict::WorksByVersion, "12.2.0"),
    (
        "localedef",
        "--version",
        0,
        "localedef (Debian GLIBC 2.36-9+deb12u14) 2.36\n",
        Verdict::WorksByVersion,
        "2.36",
    ),
    (
        "systemctl",
        "--version",
        0,
        "systemd 252 (252.38-1~deb12u1)\n",
        Verdict::WorksByVersion,
        "252",
    ),
    ("parallel", "--version", 0, "GNU parallel 20221122\n", Verdict::WorksByVersion, "20221122"),
    ("chrt", "--version", 0, "chrt from util-linux 2.38.1\n", Verdict::WorksByVersion, "2.38.1"),
    (
        "perl",
        "--version",
        0,
        "\nThis is perl 5, version 36, subversion 0 (v5.36.0) built for x\n",
        Verdict::WorksByVersion,
        "5.36.0",
    ),
    (
        "x",
        "--version",
        2,
        "error: unexpected argument '--version' found\n\nUsage: x [OPTIONS]\n",
        Verdict::WorksByHelp,
        "",
    ),
    (
        "x",
        "--version",
        1,
        "Error: unknown flag: --version\nUsage:\n  x [command]\n",
        Verdict::WorksByHelp,
        "",
    ),
    (
        "x",
        "--version",
        2,
        "flag provided but not defined: -version\nUsage of /opt/bin/x:\n",
        Verdict::WorksByHelp,
        "",
    ),
    ("x", "--version", 1, "x: usage: x FILE\n", Verdict::WorksByHelp, ""),
    (
        "errno",
        "-l",
        0,
        "ENOENT 2 No such file or directory\nENOEXEC 8 Exec format error\n",
        Verdict::Unknown,
        "",
    ),
    ("x", "--version", 0, "Usage of this placeholder is not supported.\n", Verdict::Unknown, ""),
    (
        "iotop",
        "--version",
        0,
        "No module named 'iotop'\nTo run an uninstalled copy of iotop,\n",
        Verdict::Broken,
        "",
    ),
    (
        "clisp",
        "--version",
        1,
        "clisp: /usr/lib/clisp/base/lisp.run: No such file or directory\n",
        Verdict::Broken,
        "",
    ),
    (
        "x",
        "--version",
        1,
        "/opt/x: line 3: /proc/mdstat: No such file or directory\n",
        Verdict::Environment,
        "",
    ),
    (
        "cake",
        "--version",
        1,
        "Error: Cakefile not found in /tmp\n    at fatalError (/usr/lib/cake.js:95:11)\n",
        Verdict::Unknown,
        "",
    ),
    ("x", "--version", 1, "Error relocating /opt/x: foo: symbol not found\n", Verdict::Broken, ""),
    (
        "x",
        "--version",
        1,
        "exec: \"dot\": executable file not found in $PATH\n",
        Verdict::Broken,
        "",
    ),
    (
        "x",
        "--version",
        2,
        "Can't open perl script \"/opt/x.pl\": No such file or directory\n",
        Verdict::Broken,
        "",
    ),
    (
        "perl",
        "--foo",
        2,
        "Can't open perl script \"--foo\": No such file or directory\n",
        Verdict::Alive,
        "",
    ),
    ("x", "--version", 0, "x 1.2.3\nSegmentation fault\n", Verdict::Broken, ""),
    ("x", "--version", 126, "x 1.2.3\n", Verdict::Broken, ""),
    (
        "x",
        "--version",
        1,
        "Traceback (most recent call last):\n  File \"/opt/x\", line 1\n    x 1.2.3\nValueError: bad 1.2.3\n",
        Verdict::Unknown,
        "",
    ),
    (
        "x",
        "--version",
        1,
        "Traceback (most recent call last):\n  File \"/opt/x\", line 1\n_tkinter.TclError: no display name and no $DISPLAY environment variable\n",
        Verdict::Environment,
        "",
    ),
    ("x", "--version", 1, "x: socket: Operation not permitted\n", Verdict::Environment, ""),
    ("x", "--version", 1, "x: only root can do that\n", Verdict::Environment, ""),
    // Node prints what it could not start, and our arguments with it.
    (
        "heron",
        "--version",
        1,
        "node:events:502\n      throw er;\n      ^\n\nError: spawn /opt/heron/vendor/heron ENOENT\n    at ChildProcess._handle.onexit (node:internal/child_process:286:19)\n    at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {\n  errno: -2,\n  code: 'ENOENT',\n  spawnargs: [ '--version' ]\n}\n",
        Verdict::Broken,
        "",
    ),
    // An exception about arguments of the code is no answer about ours.
    (
        "heron",
        "--version",
        1,
        "Traceback (most recent call last):\n  File \"/opt/heron\", line 9, in <module>\n    main()\nTypeError: command() got an unexpected keyword argument\n",
        Verdict::Unknown,
        "",
    ),
    (
        "python",
        "--version",
        1,
        "Python was not found; run without arguments to install it from the store\n",
        Verdict::Broken,
        "",
    ),
    ("heron", "--version", 1, "wrong#args, expected: ?options? output\n", Verdict::Alive, ""),
];

#[test]
fn every_row_is_judged_as_written() {
    let mut wrong = Vec::new();
    for (tool, argument, exit, text, verdict, version) in ROWS {
        let stderr = (*text).to_owned();
        let run = Observation::new(tool, &[argument], ProcessEnd::Exited(*exit));
        let found = judge(&Observation { stderr, ..run });
        if found.verdict != *verdict || found.version_found.as_deref().unwrap_or("") != *version {
            wrong.push(format!("{text:?}\n  expected {verdict:?} {version}\n  found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_crash_without_a_display_is_not_the_installs_fault() {
    let stderr = "qt.qpa.xcb: could not connect to display\nAborted\n".to_owned();
    let run = Observation::new("x", &["--version"], ProcessEnd::Signaled(6));
    assert_eq!(judge(&Observation { stderr, ..run }).verdict, Verdict::Environment);
}

/// What is missing inside of an install breaks it, wherever it is installed.
#[test]
fn files_of_the_install_count_wherever_it_is() {
    let install = "/home/me/.local/share/towpath/tools/.installs/heron/1-1";
    for (text, verdict) in [
        (
            format!(
                "FileNotFoundError: [Errno 2] No such file or directory: '{install}/lib/rules.txt'"
            ),
            Verdict::Broken,
        ),
        (format!("python3: can't open file '{install}/bin/x.py': [Errno 2]"), Verdict::Broken),
        (format!("{install}/bin/heron: --version: No such file or directory"), Verdict::Alive),
        ("heron: /home/me/notes.txt: No such file or directory".to_owned(), Verdict::Unknown),
    ] {
        let mut observation = Observation::new("heron", &["--version"], ProcessEnd::Exited(1));
        observation.stderr = format!("{text}\n");
        observation.install_path = Some(install.to_owned());
        assert_eq!(judge(&observation).verdict, verdict, "{text}");
    }
}

/// Whoever runs a program may lack the right to; that breaks no install.
#[test]
fn a_file_that_may_not_be_executed_by_this_user_is_not_broken() {
    use towpath_tool::FileFacts;
    let end = ProcessEnd::NotStarted("EACCES".to_owned());
    let mut observation = Observation::new("heron", &["--version"], end);
    assert_eq!(judge(&observation).verdict, Verdict::Broken);
    observation.file = Some(FileFacts::sound("script #!/bin/sh"));
    assert_eq!(judge(&observation).verdict, Verdict::Environment);
}

/// The only lack of a display program that is whole.
#[test]
fn a_program_that_lacks_only_a_display_is_accepted_with_a_warning() {
    use towpath_tool::{FileFacts, check, verify_section};
    let sound = "elf x86-64, interpreter and libraries found, display program xeyes";
    let judged = |file: &str, exit: i32, stderr: &str| {
        let run = Observation::new("xeyes", &["--version"], ProcessEnd::Exited(exit));
        let file = Some(FileFacts::from_description(file));
        Observation { stderr: stderr.to_owned(), file, ..run }
    };
    let complaint = "Error: Can't open display: \n";
    let observation = judged(sound, 1, complaint);
    let found = judge(&observation);
    assert_eq!((found.verdict, found.warnings.len()), (Verdict::Alive, 1), "{found:?}");
    let section = verify_section(&observation, &found).expect("a check");
    assert_eq!(section.pattern.as_deref(), Some("Can't open display"));
    // The number of a process and the time of day are other ones at the next run.
    let later = "(xeyes:12): Gtk-WARNING **: 16:00:12.1: cannot open display: \n";
    let first = judged(sound, 1, &later.replace("12", "34"));
    let section = verify_section(&first, &judge(&first)).expect("a check");
    assert!(check(&section, Some(&judged(sound, 1, later)), None).passed(), "{section:?}");
    for (file, exit, text, verdict) in [
        ("elf x86-64, interpreter and libraries found", 1, complaint, Verdict::Environment),
        ("elf x86-64, interpreter and libraries found, display program xclock", 1, complaint, {
            Verdict::Environment
        }),
        ("script #!/bin/sh", 1, complaint, Verdict::Environment),
        (sound, 1, "Error: Can't open display: \nxeyes: no eyes.xpm in /usr\n", {
            Verdict::Environment
        }),
        (sound, 1, "xeyes: symbol lookup error: libX11.so.6: undefined symbol: x\n", {
            Verdict::Broken
        }),
        (sound, 127, complaint, Verdict::Broken),
        (sound, 139, complaint, Verdict::Environment),
        (sound, 1, "", Verdict::Unknown),
    ] {
        assert_eq!(judge(&judged(file, exit, text)).verdict, verdict, "{file} {exit} {text}");
    }
}
