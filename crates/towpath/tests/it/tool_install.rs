//! `towpath tool`: tools created, installed, verified and removed, from archives that a server on
//! loopback has. The tools are scripts, so that each way to answer `--version` can be tried.

mod batch;
mod damaged;
mod hashes;
mod interrupted;
mod model_asked_for_check;
mod names;
mod project;
pub mod release_server;
mod repaired_checks;
mod versions;

use crate::support::{Printed, User};
use release_server::ReleaseServer;
use std::fs;
use std::path::Path;

/// A tool that answers as most do.
pub const GREET: &str =
    "#!/bin/sh\n[ \"$1\" = --version ] && { echo greet 1.2.0; exit; }\necho hello\n";

/// Every entry below `bin/`, and every visible version.
pub fn visible(user: &User) -> Vec<String> {
    let mut names = Vec::new();
    for folder in ["home/data/bin", "home/data/tools"] {
        let entries = fs::read_dir(user.path(folder)).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let inner = fs::read_dir(entry.path()).into_iter().flatten().flatten();
            let inner = inner.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.extend(inner.map(|version| format!("{name}/{version}")).chain([name.clone()]));
        }
    }
    names.sort();
    names
}

/// Installs that are being built or were left behind.
pub fn installs(user: &User, tool: &str) -> usize {
    fs::read_dir(user.path(&format!("home/data/tools/.installs/{tool}")))
        .into_iter()
        .flatten()
        .count()
}

pub fn create(user: &User, name: &str, url: &str, more: &[&str]) -> Printed {
    let from = format!("url:{url}");
    let arguments = [&["tool", "create", name, "--from", &from], more].concat();
    user.towpath(&arguments)
}

#[test]
fn a_tool_is_created_used_verified_and_removed() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let url = server.tool(&user, "greet", "1.2.0", GREET);
    let printed = create(&user, "greet", &url, &[]).exits(0);
    assert!(printed.stdout.contains("works, by its version"), "{}", printed.stdout);
    assert!(printed.stdout.contains("greet 1.2.0 installed"), "{}", printed.stdout);
    assert!(printed.stderr.contains("is not on PATH; add to"), "{}", printed.stderr);
    let bin = user.path("home/data/bin/greet");
    let output = std::process::Command::new(&bin).output().expect("it starts");
    assert_eq!(output.stdout, b"hello\n");
    let json = user.towpath(&["tool", "list", "--json"]).exits(0).json();
    let tool = &json["tools"][0];
    assert_eq!((&tool["tool"], &tool["version"]), (&"greet".into(), &"1.2.0".into()));
    assert_eq!(tool["in_use"], true);
    assert!(tool.get("repair_metadata").is_none(), "{tool}");
    assert_eq!(tool["verify"]["command"], "greet --version");
    let which = user.towpath(&["tool", "which", "greet"]).exits(0);
    assert!(Path::new(which.stdout.trim()).is_file(), "{}", which.stdout);
    user.towpath(&["tool", "verify"]).exits(0).shows("greet 1.2.0 works");
    user.towpath(&["tool", "install", "greet"]).exits(0).shows("greet 1.2.0 is installed");
    user.towpath(&["tool", "remove", "greet"]).exits(0).shows("removed greet 1.2.0");
    assert_eq!(visible(&user), Vec::<String>::new());
    assert_eq!(installs(&user, "greet"), 0);
    user.towpath(&["tool", "which", "greet"]).exits(2).reports("no installed tool");
    user.towpath(&["tool", "remove", "greet"]).exits(2).reports("greet is not installed");
    // The recipe and what was fetched are still there: no server is needed.
    server.close();
    user.towpath(&["tool", "install", "greet@1.2.0"]).exits(0).shows("greet 1.2.0 installed");
}

#[test]
fn a_changed_program_is_not_verified() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    create(&user, "greet", &server.tool(&user, "greet", "1.2.0", GREET), &[]).exits(0);
    let file = user.path("home/data/bin/greet").canonicalize().expect("it is there");
    fs::write(&file, "#!/bin/sh\necho greet 1.2.0\n").expect("it can be written");
    let printed = user.towpath(&["tool", "verify", "greet"]).exits(1);
    assert!(printed.stdout.contains("changed since it was installed: greet"), "{}", printed.stdout);
    // An install puts it right again.
    user.towpath(&["tool", "install", "greet"]).exits(0).shows("installed in");
    user.towpath(&["tool", "verify"]).exits(0);
}

#[test]
fn a_file_of_the_users_in_bin_stays() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let url = server.tool(&user, "greet", "1.2.0", GREET);
    fs::create_dir_all(user.path("home/data/bin")).expect("a folder");
    fs::write(user.path("home/data/bin/greet"), "mine").expect("a file");
    create(&user, "greet", &url, &[]).exits(0).shows("greet is not linked");
    assert_eq!(fs::read_to_string(user.path("home/data/bin/greet")).expect("a file"), "mine");
}

#[test]
fn doctor_names_what_shadows_a_tool() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    create(&user, "greet", &server.tool(&user, "greet", "1.2.0", GREET), &[]).exits(0);
    let bin = user.path("home/data/bin");
    let other = user.program("other/greet", "#!/bin/sh\n");
    let path = std::env::var("PATH").expect("there is a PATH");
    let doctor = |directories: &[&Path]| {
        let mut path: Vec<String> = vec![path.clone()];
        for directory in directories.iter().rev() {
            path.insert(0, directory.display().to_string());
        }
        let mut command = user.command(&["doctor"]);
        command.env("PATH", path.join(":"));
        Printed::from(command.output().expect("towpath starts")).stdout
    };
    let folder = other.parent().expect("it has one");
    let text = doctor(&[folder, &bin]);
    assert!(text.contains("other/greet comes first on PATH"), "{text}");
    let text = doctor(&[&bin, folder]);
    assert!(!text.contains("comes first on PATH") && text.contains("1 tool"), "{text}");
    assert!(doctor(&[]).contains("bin is not on PATH"));
}

#[test]
fn bad_requests_are_refused() {
    let user = User::on_disk();
    user.towpath(&["tool", "create", "x", "--from", "carg:x"]).exits(2).reports("cargo");
    user.towpath(&["tool", "create", "../x"]).exits(2).reports("is not a name");
    user.towpath(&["tool", "remove", "--", "../x"]).exits(2).reports("is not a name");
    assert!(!user.path("home/data/tools").exists(), "nothing is written for it");
    fs::create_dir_all(user.path("home/data/tools")).expect("a folder");
    fs::write(user.path("home/data/tools/README"), "not a tool").expect("a file");
    user.towpath(&["tool", "list"]).exits(0).shows("no tool is installed");
    user.towpath(&["tool", "install", "nothing"]).exits(2).reports("towpath tool create nothing");
    user.towpath(&["tool", "verify", "nothing"]).exits(2).reports("nothing is not installed");
    user.towpath(&["tool", "install"]).exits(2).reports(".towpath/tools.toml does not exist");
    user.write("bad.toml", "[metadata]\nnam = \"x\"\n");
    user.towpath(&["tool", "install", "./bad.toml"]).exits(2).reports("did you mean `name`?");
    let json = user.towpath(&["tool", "install", "./bad.toml", "--json"]).exits(2).json();
    let message = json["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("bad.toml:1:1: "), "{message}");
    user.towpath(&["tool", "probe", "/bin/ls", "--name", "../x"]).exits(2).reports("is not a name");
    user.towpath(&["tool", "probe", "/bin/ls", "--expect", "zz"]).exits(2).reports("not a version");
    user.towpath(&["tool", "probe", "/dev/null"]).exits(2).reports("it is no regular file");
}

#[test]
fn what_a_recipe_requires_is_installed_first() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    create(&user, "greet", &server.tool(&user, "greet", "1.2.0", GREET), &[]).exits(0);
    user.towpath(&["tool", "remove", "greet"]).exits(0);
    let recipe = "name: r\nrequires: [\"greet>=1.2\"]\nsteps:\n  - {id: a, command: greet me}\n";
    user.write("r.yaml", recipe);
    user.towpath(&["run", "r.yaml"]).exits(5).reports("(towpath tool install greet)");
    let printed = user.towpath(&["run", "r.yaml", "--install-missing"]).exits(0);
    printed.reports("greet is missing: towpath tool install greet\n").shows("hello\n");
    assert!(visible(&user).contains(&"greet/1.2.0".to_owned()));
}

#[test]
fn a_tool_of_an_address_has_no_newer_version() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    create(&user, "greet", &server.tool(&user, "greet", "1.2.0", GREET), &[]).exits(0);
    user.towpath(&["tool", "update"])
        .exits(0)
        .shows("greet 1.2.0 is the only version of its address");
}

#[test]
fn an_install_whose_directory_was_lost_is_made_again() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    create(&user, "greet", &server.tool(&user, "greet", "1.2.0", GREET), &[]).exits(0);
    fs::remove_dir_all(user.path("home/data/tools/.installs/greet")).expect("it is there");
    user.towpath(&["tool", "install", "greet"]).exits(0).shows("greet 1.2.0 installed");
    assert_eq!(installs(&user, "greet"), 1);
    user.towpath(&["tool", "verify", "greet"]).exits(0).shows("greet 1.2.0 works");
}

#[test]
fn a_changed_file_beside_the_programs_is_found() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    create(&user, "greet", &server.tool(&user, "greet", "1.2.0", GREET), &[]).exits(0);
    let install = user.path("home/data/tools/greet/1.2.0");
    fs::write(install.join("cache"), "what the tool writes itself").expect("a file");
    user.towpath(&["tool", "verify", "greet"]).exits(0);
    fs::write(install.join("towpath-tool.toml"), "changed").expect("a file");
    let printed = user.towpath(&["tool", "verify", "greet"]).exits(1);
    printed.shows("changed since it was installed: towpath-tool.toml");
}

/// Only the tool's own program is linked, and none that hides one of the system.
#[test]
fn a_package_takes_no_names() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let programs: Vec<(&str, &str)> =
        ["greet", "bwrap", "git", "sudo", "hello"].into_iter().map(|name| (name, GREET)).collect();
    server.put("greet-1.2.0.tar.gz", release_server::archive(&user, "greet", "1.2.0", &programs));
    let url = server.url("greet-1.2.0.tar.gz");
    create(&user, "greet", &url, &[])
        .exits(0)
        .shows("also has bwrap, git, hello, sudo: --bin NAME");
    let linked = || {
        let entries = fs::read_dir(user.path("home/data/bin")).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(linked(), ["greet"]);
    user.towpath(&["tool", "remove", "greet"]).exits(0);
    let asked = ["--bin", "hello", "--bin", "git"];
    create(&user, "greet", &url, &asked).exits(0).shows("git is not linked: /");
    assert_eq!(linked(), ["hello"]);
    user.towpath(&["tool", "remove", "greet"]).exits(0);
    create(&user, "greet", &url, &["--bin", "git", "--shadow"]).exits(0);
    assert_eq!(linked(), ["git"]);
    // A step that requires the tool gets that one, and no other program of its package.
    let steps = "steps:\n  - {id: a, command: greet --version; command -v git}\n";
    user.write("r.yaml", &format!("name: r\nrequires: [greet]\n{steps}"));
    let printed = user.towpath(&["run", "r.yaml"]).exits(0).shows("greet 1.2.0\n");
    assert!(!printed.stdout.contains("/tools/greet/"), "{}", printed.stdout);
}

/// The program that makes sandboxes is the system's, never one that a tool has put on PATH.
#[test]
fn no_program_of_path_makes_the_sandbox() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let marker = user.path("pwned").display().to_string();
    let evil = user.program("evil/bwrap", &format!("#!/bin/sh\nid > {marker}\nexit 1\n"));
    let url = server.tool(&user, "greet", "1.2.0", GREET);
    let mut command = user.command(&["tool", "create", "greet", "--from", &format!("url:{url}")]);
    let path = std::env::var("PATH").expect("there is a PATH");
    command.env("PATH", format!("{}:{path}", evil.parent().expect("it has one").display()));
    Printed::from(command.output().expect("towpath starts")).exits(0);
    assert!(!user.path("pwned").exists());
}

#[test]
fn a_tool_may_have_another_name_than_its_package() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let url = server.tool(&user, "greet", "1.2.0", GREET);
    create(&user, "hello", &url, &[]).exits(0).shows("hello 1.2.0 installed");
    user.towpath(&["tool", "which", "greet"]).exits(0);
}

#[test]
fn what_cannot_be_removed_is_named() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    create(&user, "greet", &server.tool(&user, "greet", "1.2.0", GREET), &[]).exits(0);
    // Whoever runs this test may write everywhere, but nobody can remove a directory in use as a file.
    let link = user.path("home/data/tools/greet/1.2.0");
    let install = fs::canonicalize(&link).expect("an install");
    fs::remove_file(&link).expect("a link");
    fs::create_dir(&link).expect("a folder");
    for file in fs::read_dir(install).expect("a folder").flatten() {
        fs::rename(file.path(), link.join(file.file_name())).expect("it can be moved");
    }
    user.towpath(&["tool", "remove", "greet"]).exits(5).reports("data/tools/greet/1.2.0: ");
}

#[test]
fn archives_that_lead_elsewhere_and_wrong_checksums_are_refused() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let url = server.tool(&user, "greet", "1.2.0", GREET);
    let recipe = format!(
        "[metadata]\nname = \"greet\"\n\n[version]\nsource = \"url\"\nversion = \"1.2.0\"\n\n\
         [[steps]]\naction = \"download\"\nurl = \"{url}\"\nsha256 = \"{}\"\ndest = \"greet.tar.gz\"\n\n\
         [[steps]]\naction = \"extract\"\narchive = \"greet.tar.gz\"\nstrip_dirs = 1\n\n\
         [[steps]]\naction = \"install_binaries\"\nbinaries = [\"bin/greet\"]\n\n\
         [verify]\ncommand = \"greet --version\"\n",
        "a".repeat(64)
    );
    user.write("greet.toml", &recipe);
    user.towpath(&["tool", "install", "./greet.toml"]).exits(1).reports(&"a".repeat(64));
    let link = user.path("archives/evil-1.0.0");
    fs::create_dir_all(&link).expect("a folder");
    std::os::unix::fs::symlink("/etc", link.join("bin")).expect("a link");
    let tar = std::process::Command::new("tar")
        .arg("-C")
        .arg(user.path("archives"))
        .args(["-cz", "evil-1.0.0"])
        .output()
        .expect("tar starts");
    server.put("evil-1.0.0.tar.gz", tar.stdout);
    create(&user, "evil", &server.url("evil-1.0.0.tar.gz"), &[]).exits(1).reports("bin");
    assert_eq!(visible(&user), Vec::<String>::new());
    assert_eq!(installs(&user, "evil") + installs(&user, "greet"), 0);
}

#[test]
fn where_no_link_can_be_made_nothing_becomes_visible() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let url = server.tool(&user, "greet", "1.2.0", GREET);
    fs::create_dir_all(user.path("home/data")).expect("a folder");
    fs::write(user.path("home/data/bin"), "a file").expect("a file");
    create(&user, "greet", &url, &[]).exits(5).reports("home/data/bin");
    assert_eq!((visible(&user), installs(&user, "greet")), (Vec::new(), 0));
    fs::remove_file(user.path("home/data/bin")).expect("it is there");
    create(&user, "greet", &url, &[]).exits(0);
    // A recipe that was lost is saved again, with the check that has passed.
    let recipe = user.path("home/config/tools/greet.toml");
    let saved = fs::read_to_string(&recipe).expect("a recipe");
    fs::remove_file(&recipe).expect("it is there");
    create(&user, "greet", &url, &[]).exits(0).shows("greet 1.2.0 is installed");
    assert_eq!(fs::read_to_string(&recipe).expect("a recipe"), saved);
}

#[test]
fn an_edited_recipe_of_an_installed_tool_is_proven() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    create(&user, "greet", &server.tool(&user, "greet", "1.2.0", GREET), &[]).exits(0);
    let path = user.path("home/config/tools/greet.toml");
    let recipe = fs::read_to_string(&path).expect("a recipe");
    fs::write(&path, recipe.replace("greet {version}", "nonsense")).expect("it can be edited");
    let printed = user.towpath(&["tool", "install", "greet"]).exits(1);
    assert!(printed.stdout.contains("the output has no `nonsense`"), "{}", printed.stdout);
    // The version from before is still installed.
    user.towpath(&["tool", "verify"]).exits(0).shows("greet 1.2.0 works");
}

/// The programs that a recipe has now are those that are installed and linked.
#[test]
fn a_changed_recipe_of_an_installed_version_is_installed_again() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let programs = [("greet", GREET), ("hello", &GREET.replace("greet", "hello"))];
    server.put("greet-1.2.0.tar.gz", release_server::archive(&user, "greet", "1.2.0", &programs));
    let url = server.url("greet-1.2.0.tar.gz");
    let recipe = |programs: &str, main: &str| {
        format!(
            "[metadata]\nname = \"greet\"\n\n[version]\nversion = \"1.2.0\"\n\n[[steps]]\n\
             action = \"download_archive\"\nurl = \"{url}\"\nstrip_dirs = 1\nbinaries = [{programs}]\n\n\
             [verify]\ncommand = \"{main} --version\"\n"
        )
    };
    user.write("greet.toml", &recipe("\"bin/greet\", \"bin/hello\"", "greet"));
    user.towpath(&["tool", "install", "./greet.toml"]).exits(0).shows("greet 1.2.0 installed in");
    assert!(user.path("home/data/bin/greet").exists());
    user.write("greet.toml", &recipe("\"bin/hello\"", "hello"));
    let printed = user.towpath(&["tool", "install", "./greet.toml"]).exits(0);
    printed
        .shows("greet 1.2.0 installed in")
        .reports("greet 1.2.0 was installed with another recipe; installing it again");
    assert!(user.path("home/data/bin/greet").symlink_metadata().is_err(), "it leads to nothing");
    user.towpath(&["tool", "install", "./greet.toml"]).exits(0).shows("greet 1.2.0 is installed");
}

/// A pipe that nobody writes to would be waited for.
#[test]
fn a_pipe_is_no_file() {
    let user = User::on_disk();
    let pipe = |name: &str| {
        fs::create_dir_all(user.path("work/.towpath")).expect("a folder");
        let made = std::process::Command::new("mkfifo").arg(user.path("work").join(name)).status();
        assert!(made.expect("mkfifo starts").success());
    };
    pipe("p.toml");
    pipe(".towpath/tools.lock");
    user.write(".towpath/tools.toml", "[tools]\nkibi = \"cargo:kibi\"\n");
    let no_file = "it is no regular file";
    user.towpath(&["tool", "install", "./p.toml"]).exits(2).reports(no_file);
    user.towpath(&["tool", "create", "--batch", "p.toml"]).exits(2).reports(no_file);
    user.towpath(&["tool", "install"]).exits(2).reports(no_file);
    user.towpath(&["tool", "shell", "true"]).exits(2).reports(no_file);
    user.write("r.yaml", "name: r\nsteps:\n  - {id: a, prompt: hi}\n");
    user.towpath(&["run", "r.yaml", "--script", "p.toml"]).exits(2).reports(no_file);
    fs::remove_file(user.path("work/.towpath/tools.toml")).expect("it is there");
    pipe(".towpath/tools.toml");
    user.towpath(&["tool", "install"]).exits(2).reports(no_file);
    // One that the user's shell has opened is read.
    let mut command = std::process::Command::new("bash");
    let program = env!("CARGO_BIN_EXE_towpath");
    command.args(["-c", &format!("{program} tool create --batch <(echo ../x)")]);
    command.current_dir(user.path("work")).env("TOWPATH_HOME", user.path("home"));
    Printed::from(command.output().expect("bash starts")).exits(2).reports("is not a name");
}
