//! What `apt-cache show` prints of a package, and what `dpkg-deb --contents` lists.

use super::PROGRAM_DIRECTORIES;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ControlRecord {
    pub version: String,
    pub description: Option<String>,
    pub homepage: Option<String>,
    pub section: Option<String>,
}

/// The first record of this package.
pub(super) fn read_record(text: &str, package: &str) -> Option<ControlRecord> {
    let record = text.split("\n\n").find(|record| field(record, "Package") == Some(package))?;
    let description = field(record, "Description").or_else(|| field(record, "Description-en"));
    Some(ControlRecord {
        version: field(record, "Version")?.to_owned(),
        description: description.map(str::to_owned),
        homepage: field(record, "Homepage").map(str::to_owned),
        section: field(record, "Section").map(str::to_owned),
    })
}

/// The first line of a field.
fn field<'r>(record: &'r str, name: &str) -> Option<&'r str> {
    record.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::trim)
}

/// Sections whose packages have no programs.
pub(super) fn is_without_programs(section: &str) -> bool {
    let section = section.rsplit('/').next().unwrap_or(section);
    matches!(
        section,
        "libs"
            | "oldlibs"
            | "libdevel"
            | "doc"
            | "debug"
            | "fonts"
            | "introspection"
            | "localization"
    )
}

/// The programs in a list of contents: `-rwxr-xr-x root/root 1 2022-01-01 00:00 ./usr/bin/htop`.
pub(super) fn programs_of_contents(text: &str) -> Vec<String> {
    let program = |line: &str| {
        let kind = line.chars().next()?;
        let (_, path) = line.split_once(" ./")?;
        let path = path.split(" -> ").next()?.split(" link to ").next()?;
        let (directory, name) = path.rsplit_once('/')?;
        let executable =
            kind == 'l' || (matches!(kind, '-' | 'h') && line.get(1..10)?.contains('x'));
        let is_program = executable && !name.is_empty() && PROGRAM_DIRECTORIES.contains(&directory);
        is_program.then(|| path.to_owned())
    };
    text.lines().filter_map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTOP: &str = "\
Package: htop
Version: 3.2.2-2
Installed-Size: 378
Depends: libc6 (>= 2.34), libncursesw6 (>= 6)
Description: interactive processes viewer
Description-md5: 8eb5aa19b3c92a975dc78e2165f6688d
Homepage: https://htop.dev/
Tag: admin::monitoring, implemented-in::c,
 role::program
Section: utils

Package: other
Version: 9
";
    const CONTENTS: &str = "\
drwxr-xr-x root/root         0 2022-12-20 15:36 ./usr/bin/
-rwxr-xr-x root/root    309832 2022-12-20 15:36 ./usr/bin/htop
-rw-r--r-- root/root       123 2022-12-20 15:36 ./usr/bin/notes
lrwxrwxrwx root/root         0 2022-12-20 15:36 ./usr/bin/link -> htop
hrwxr-xr-x root/root         0 2022-12-20 15:36 ./usr/sbin/hard link to ./usr/bin/htop
-rwxr-xr-x root/root       123 2022-12-20 15:36 ./usr/lib/htop/helper
-rwxr-xr-x root/root       123 2022-12-20 15:36 ./usr/games/a game
";

    #[test]
    fn a_record_is_read() {
        let htop = read_record(HTOP, "htop").unwrap();
        assert_eq!(htop.version, "3.2.2-2");
        assert_eq!(htop.description.as_deref(), Some("interactive processes viewer"));
        assert_eq!(htop.homepage.as_deref(), Some("https://htop.dev/"));
        assert_eq!(htop.section.as_deref(), Some("utils"));
        assert_eq!(read_record(HTOP, "other").unwrap().version, "9");
        assert_eq!(read_record(HTOP, "awk"), None);
        assert_eq!(read_record("", "htop"), None);
    }

    #[test]
    fn sections_without_programs_are_known() {
        assert!(is_without_programs("libs") && is_without_programs("contrib/doc"));
        assert!(!is_without_programs("utils") && !is_without_programs("non-free/games"));
    }

    #[test]
    fn programs_are_found_in_contents() {
        let programs = programs_of_contents(CONTENTS);
        assert_eq!(programs, ["usr/bin/htop", "usr/bin/link", "usr/sbin/hard", "usr/games/a game"]);
    }
}
