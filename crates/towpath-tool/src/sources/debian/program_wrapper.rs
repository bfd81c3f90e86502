//! The program in an install's `bin/` for a program of a package: a script that lets it find what was
//! unpacked beside it. A package expects its files at the root of the system, where they are not.

use super::super::tree_hash::sorted_tree;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Where the search paths of an unpacked tree lead, by variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SearchPaths(Vec<(&'static str, Vec<PathBuf>)>);

/// Where packages put their libraries.
const LIBRARY_DIRECTORIES: &[&str] = &["usr/lib", "lib", "usr/lib64", "lib64", "usr/libexec"];
const PERL: &[&str] = &["usr/share/perl5", "usr/share/perl", "usr/lib/perl5"];
/// A longer list would be a mistake.
const MOST_DIRECTORIES: usize = 40;

impl SearchPaths {
    pub fn of(root: &Path) -> io::Result<SearchPaths> {
        let tree = sorted_tree(root)?;
        let existing = |paths: &[&str]| -> Vec<PathBuf> {
            paths.iter().map(|path| root.join(path)).filter(|path| path.is_dir()).collect()
        };
        let mut perl = existing(PERL);
        // `usr/lib/x86_64-linux-gnu/perl5/5.36`, `usr/share/perl/5.36.0`
        perl.extend(tree.iter().filter(|path| is_perl_directory(root, path)).cloned());
        let python = tree.iter().filter(|path| path.ends_with("dist-packages") && path.is_dir());
        Ok(SearchPaths(vec![
            ("PATH", existing(super::PROGRAM_DIRECTORIES)),
            ("LD_LIBRARY_PATH", library_directories(root, &tree)),
            ("PYTHONPATH", python.cloned().collect()),
            ("PERL5LIB", perl),
        ]))
    }

    /// The text of the script for a program, by its path in the root.
    pub fn wrapper(&self, root: &Path, program: &str) -> io::Result<String> {
        let file = root.join(program);
        let mut text =
            "#!/bin/sh\n# Runs a program of a Debian package that was unpacked here.\n".to_owned();
        for (variable, directories) in self.0.iter().filter(|(_, list)| !list.is_empty()) {
            let list: Vec<String> =
                directories.iter().map(|directory| quoted(directory)).collect::<Result<_, _>>()?;
            // Where it is not set, an empty part would mean the current directory.
            text += &format!(
                "{variable}={}${{{variable}:+:${variable}}}\nexport {variable}\n",
                list.join(":")
            );
        }
        let interpreter = missing_interpreter(root, &file)
            .map_or(Ok(String::new()), |interpreter| {
                quoted(&interpreter).map(|text| format!("{text} "))
            })?;
        Ok(format!("{text}exec {interpreter}{} \"$@\"\n", quoted(&file)?))
    }
}

fn is_perl_directory(root: &Path, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parent = path.parent().and_then(Path::file_name).unwrap_or_default();
    let versioned = name.starts_with("5.") && (parent == "perl5" || parent == "perl");
    path.starts_with(root.join("usr")) && path.is_dir() && (versioned || name == "perl-base")
}

/// The directories that contain libraries with a version, which programs are linked with.
fn library_directories(root: &Path, tree: &[PathBuf]) -> Vec<PathBuf> {
    let roots: Vec<PathBuf> = LIBRARY_DIRECTORIES.iter().map(|path| root.join(path)).collect();
    let is_library = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("lib")
            && name.contains(".so.")
            && roots.iter().any(|root| path.starts_with(root))
    };
    let directories = tree.iter().filter(is_library).filter_map(|path| path.parent());
    let mut directories: Vec<PathBuf> =
        directories.map(Path::to_owned).collect::<BTreeSet<_>>().into_iter().collect();
    // The usual ones before those of single programs.
    directories.sort_by_key(|path| path.components().count());
    directories.truncate(MOST_DIRECTORIES);
    directories
}

/// The interpreter of a script, if only the unpacked tree has it.
fn missing_interpreter(root: &Path, script: &Path) -> Option<PathBuf> {
    let mut head = Vec::new();
    fs::File::open(script).ok()?.take(256).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let interpreter = line.split_whitespace().next()?;
    let inside = root.join(interpreter.strip_prefix('/')?);
    (!Path::new(interpreter).exists() && inside.is_file()).then_some(inside)
}

/// For a shell: nothing in it has a meaning.
fn quoted(path: &Path) -> io::Result<String> {
    let text = path.to_str().ok_or_else(|| io::Error::other("a path that is not UTF-8"))?;
    Ok(format!("'{}'", text.replace('\'', "'\\''")))
}

/// Links with an absolute path mean the root of the system; those that are in the tree lead there now.
pub(super) fn rebase_links(root: &Path) -> io::Result<()> {
    for path in sorted_tree(root)? {
        if !path.symlink_metadata()?.is_symlink() {
            continue;
        }
        let target = fs::read_link(&path)?;
        let Ok(inner) = target.strip_prefix("/") else { continue };
        let depth = path.strip_prefix(root).unwrap_or(&path).components().count();
        if root.join(inner).symlink_metadata().is_ok() {
            let up: PathBuf = std::iter::repeat_n("..", depth - 1).collect();
            fs::remove_file(&path)?;
            std::os::unix::fs::symlink(up.join(inner), &path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_wrapper_finds_what_was_unpacked() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("it's");
        for path in [
            "usr/bin",
            "usr/lib/x86_64-linux-gnu/tool",
            "usr/lib/python3/dist-packages",
            "usr/share/perl5",
            "usr/lib/x86_64-linux-gnu/perl5/5.36",
            "opt/odd",
        ] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        for path in [
            "usr/lib/x86_64-linux-gnu/libx.so.1",
            "usr/lib/x86_64-linux-gnu/tool/libt.so.2",
            "usr/lib/python3/libplugin.so",
        ] {
            fs::write(root.join(path), "").unwrap();
        }
        fs::write(root.join("usr/bin/tool"), "#!/no/such/interpreter -x\n").unwrap();
        fs::create_dir_all(root.join("no/such")).unwrap();
        fs::write(root.join("no/such/interpreter"), "").unwrap();
        let text = SearchPaths::of(&root).unwrap().wrapper(&root, "usr/bin/tool").unwrap();
        let quoted = format!("'{}", root.to_str().unwrap().replace('\'', "'\\''"));
        let expected = format!(
            "#!/bin/sh\n# Runs a program of a Debian package that was unpacked here.\n\
             PATH={quoted}/usr/bin'${{PATH:+:$PATH}}\nexport PATH\n\
             LD_LIBRARY_PATH={quoted}/usr/lib/x86_64-linux-gnu':{quoted}/usr/lib/x86_64-linux-gnu/tool'${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\nexport LD_LIBRARY_PATH\n\
             PYTHONPATH={quoted}/usr/lib/python3/dist-packages'${{PYTHONPATH:+:$PYTHONPATH}}\nexport PYTHONPATH\n\
             PERL5LIB={quoted}/usr/share/perl5':{quoted}/usr/lib/x86_64-linux-gnu/perl5/5.36'${{PERL5LIB:+:$PERL5LIB}}\nexport PERL5LIB\n\
             exec {quoted}/no/such/interpreter' {quoted}/usr/bin/tool' \"$@\"\n"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn absolute_links_lead_into_the_tree() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir_all(root.join("usr/bin")).unwrap();
        fs::create_dir_all(root.join("usr/share/x")).unwrap();
        fs::write(root.join("usr/share/x/run"), "content").unwrap();
        symlink("/usr/share/x/run", root.join("usr/bin/run")).unwrap();
        symlink("/etc/passwd", root.join("usr/bin/outside")).unwrap();
        symlink("run", root.join("usr/bin/relative")).unwrap();
        rebase_links(root).unwrap();
        let link = |name: &str| fs::read_link(root.join("usr/bin").join(name)).unwrap();
        assert_eq!(link("run"), Path::new("../../usr/share/x/run"));
        assert_eq!(fs::read_to_string(root.join("usr/bin/relative")).unwrap(), "content");
        assert_eq!(link("outside"), Path::new("/etc/passwd"));
    }
}
