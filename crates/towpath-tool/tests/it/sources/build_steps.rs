//! Steps of a recipe in the sandbox: what they can do, and what they cannot.

use super::{User, read};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use towpath_tool::ToolRecipe;
use towpath_tool::sources::{Artifact, SourceError};

fn recipe(steps: &str) -> ToolRecipe {
    read(&format!(
        "[metadata]\nname = \"greet\"\n[version]\nsource = \"url\"\nversion = \"1.0\"\n{steps}\n\
         [verify]\ncommand = \"greet --version\"\n"
    ))
}

fn run(script: &str) -> String {
    let script = serde_json::Value::from(script);
    format!("[[steps]]\naction = \"run\"\ncommand = [\"sh\", \"-c\", {script}]\n")
}

/// As if these files had been fetched.
fn artifact(user: &User, files: &[(&str, &str)]) -> Artifact {
    let directory = user.path("artifact");
    for (name, content) in files {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    fs::create_dir_all(directory.join("files")).unwrap();
    let mut artifact = Artifact::default();
    artifact.directory = directory;
    artifact
}

const GREET: &str = "#!/bin/sh\necho greet 1.0\n";

#[test]
fn binaries_are_installed_by_their_name_or_another() {
    let user = User::new();
    let artifact =
        artifact(&user, &[("files/greet-{version}", ""), ("files/dir/greet-1.0", GREET)]);
    let recipe = recipe(
        "[[steps]]\naction = \"install_binaries\"\nbinaries = [{ src = \"dir/greet-{version}\", dest = \"greet\" }, { src = \"dir/greet-1.0\", dest = \"hello\" }]\n\
         [[steps]]\naction = \"install_binaries\"\nbinaries = [\"dir/greet-1.0\"]\nwhen = { os = \"macos\" }\n",
    );
    let (install, built) = user.build(&recipe, "1.0", &artifact, "install").unwrap();
    let names: Vec<&str> = built.binaries.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["greet", "hello"]);
    assert_eq!(user.run(&install, &built, "hello", &[]), "greet 1.0\n");
}

#[test]
fn a_command_may_build_programs_and_change_nothing_else() {
    let user = User::new();
    let artifact = artifact(&user, &[("files/greet.sh", GREET)]);
    let script = "set -e; mkdir -p \"$INSTALL/bin\"; cp \"$FETCHED/greet.sh\" \"$INSTALL/bin/greet\"; \
        chmod 6755 \"$INSTALL/bin/greet\"; id -u; ! echo x > \"$FETCHED/greet.sh\"; ! echo x > /usr/x; \
        test -z \"$(ls -A \"$HOME\")\"";
    let (install, built) = user.build(&recipe(&run(script)), "1.0", &artifact, "install").unwrap();
    assert_eq!(built.binaries, [("greet".to_owned(), PathBuf::from("bin/greet"))]);
    let mode = install.join("bin/greet").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755, "no program runs as its owner");
    assert_eq!(fs::read_to_string(user.path("artifact/files/greet.sh")).unwrap(), GREET);
    assert_eq!(user.run(&install, &built, "greet", &[]), "greet 1.0\n");
}

#[test]
fn a_command_has_network_only_if_it_asks() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let step = |network| {
        let script = serde_json::Value::from(script.as_str());
        format!(
            "[[steps]]\naction = \"run\"\ncommand = [\"bash\", \"-c\", {script}]\nnetwork = {network}\n"
        )
    };
    let user = User::new();
    let artifact = artifact(&user, &[]);
    let error = user.build(&recipe(&step(false)), "1.0", &artifact, "without").unwrap_err();
    assert!(
        matches!(&error, SourceError::Client { message, .. } if message.contains("/dev/tcp")),
        "{error}"
    );
    user.build(&recipe(&step(true)), "1.0", &artifact, "with").unwrap();
}

#[test]
fn a_failed_command_reports_what_it_printed() {
    let user = User::new();
    let artifact = artifact(&user, &[]);
    let error = user.build(&recipe(&run("echo the cause >&2; exit 3")), "1.0", &artifact, "i");
    let text = error.unwrap_err().to_string();
    assert_eq!(text, "a command of the recipe failed with exit code 3: the cause");
}

#[test]
fn links_that_a_command_has_made_are_not_followed() {
    let binaries = "[[steps]]\naction = \"install_binaries\"\nbinaries = [\"greet\"]\n";
    let deep = "[[steps]]\naction = \"install_binaries\"\nbinaries = [\"a/greet\"]\n";
    let cases = [
        // A program that is a file of the system.
        (run("ln -s \"$0\" greet").replace("\"$0\"", "/etc/passwd") + binaries, "file"),
        // A directory of the install that is somewhere else.
        (run("rm -rf \"$INSTALL/bin\"; ln -s OUTSIDE \"$INSTALL/bin\"") + binaries, "bin"),
        (run("ln -s OUTSIDE a") + deep, "deep"),
        (run("ln -s OUTSIDE/recipe \"$INSTALL/towpath-tool.toml\""), "top"),
        (run("rmdir \"$INSTALL/files\" && ln -s OUTSIDE \"$INSTALL/files\"") + binaries, "files"),
    ];
    for (steps, name) in cases {
        let user = User::new();
        let outside = user.path("outside");
        fs::create_dir(&outside).unwrap();
        let files = [("files/greet", GREET), ("files/a/greet", GREET)];
        // The case of the file has nothing fetched under its name.
        let artifact = artifact(&user, if name == "file" { &[] } else { &files });
        let recipe = recipe(&steps.replace("OUTSIDE", outside.to_str().unwrap()));
        let before = fs::metadata("/etc/passwd").unwrap().permissions().mode();
        let error = user.build(&recipe, "1.0", &artifact, "install").unwrap_err();
        assert!(
            matches!(error, SourceError::NotInside(_) | SourceError::NoFile(_)),
            "{name}: {error:?}"
        );
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{name}");
        assert_eq!(fs::metadata("/etc/passwd").unwrap().permissions().mode(), before);
    }
}

#[test]
fn a_recipe_for_other_machines_has_no_steps_here() {
    let user = User::new();
    let step =
        "[[steps]]\naction = \"install_binaries\"\nbinaries = [\"x\"]\nwhen = { os = \"macos\" }\n";
    let error = user.fetch(&recipe(step), "1.0").unwrap_err();
    assert!(matches!(error, SourceError::NoSteps), "{error}");
}

#[test]
fn an_archive_is_unpacked_beside_another() {
    let user = User::new();
    let artifact = artifact(&user, &[]);
    let archives = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives");
    for name in ["tool.tar.gz", "tool.gz", "tool.tar.xz"] {
        fs::copy(archives.join(name), artifact.directory.join("files").join(name)).unwrap();
    }
    let extract = |file, strip| {
        format!("[[steps]]\naction = \"extract\"\narchive = \"{file}\"\nstrip_dirs = {strip}\n")
    };
    let binaries = "[[steps]]\naction = \"install_binaries\"\nbinaries = [{ src = \"run\", dest = \"greet\" }, \"tool\"]\n";
    let both = extract("tool.tar.gz", 1) + &extract("tool.gz", 0) + binaries;
    let (install, built) = user.build(&recipe(&both), "1.0", &artifact, "install").unwrap();
    assert_eq!(user.run(&install, &built, "greet", &[]), "tool 1.0\n");
    assert_eq!(user.run(&install, &built, "tool", &[]), "tool 1.0\n");
    let twice = extract("tool.tar.gz", 0) + &extract("tool.tar.xz", 0);
    let error = user.build(&recipe(&twice), "1.0", &artifact, "twice").unwrap_err();
    assert!(error.to_string().contains("is there already"), "{error}");
}

#[test]
fn install_scripts_of_npm_run_in_the_sandbox() {
    let user = User::new();
    let package = r#"{ "name": "greet", "version": "1.0.0", "bin": "greet.js",
        "scripts": { "postinstall": "node make.js" } }"#;
    let make = "const fs = require('fs');\n\
        let home; try { fs.writeFileSync('OUTSIDE/escaped', ''); home = 'written'; } catch (error) { home = error.code; }\n\
        fs.writeFileSync('greet.js', '#!/usr/bin/env node\\nconsole.log(\"greet 1.0.0\")\\n');\n\
        fs.writeFileSync('found', home + ' ' + process.getuid());\n";
    let outside = user.path("outside");
    fs::create_dir(&outside).unwrap();
    let make = make.replace("OUTSIDE", outside.to_str().unwrap());
    let lock = r#"{ "name": "x", "lockfileVersion": 3, "requires": true, "packages": {
        "": { "dependencies": { "greet": "1.0.0" } },
        "node_modules/greet": { "version": "1.0.0", "hasInstallScript": true, "bin": { "greet": "greet.js" } } } }"#;
    let artifact = artifact(
        &user,
        &[
            ("npm-0/package.json", r#"{ "private": true, "dependencies": { "greet": "1.0.0" } }"#),
            ("npm-0/package-lock.json", lock),
            ("npm-0/node_modules/greet/package.json", package),
            ("npm-0/node_modules/greet/make.js", &make),
            ("npm-0/node_modules/greet/greet.js", ""),
        ],
    );
    let bin = artifact.directory.join("npm-0/node_modules/.bin");
    fs::create_dir(&bin).unwrap();
    symlink("../greet/greet.js", bin.join("greet")).unwrap();
    let recipe = read(
        "[metadata]\nname = \"greet\"\n\
         [[steps]]\naction = \"npm_install\"\npackage = \"greet\"\n[verify]\ncommand = \"greet --version\"\n",
    );
    let (install, built) = user.build(&recipe, "1.0.0", &artifact, "install").unwrap();
    assert_eq!(user.run(&install, &built, "greet", &[]), "greet 1.0.0\n");
    let found = fs::read_to_string(install.join("lib/npm/node_modules/greet/found")).unwrap();
    assert!(found.starts_with("ENOENT ") && found != "ENOENT 0", "{found}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}
