//! What `apt-get --simulate install` would do.

/// The packages that would be installed or upgraded, with their versions:
/// `Inst bash [5.2.15-2+b8] (5.2.15-2+b13 Debian:12.15/oldstable [amd64])`.
pub(super) fn packages_to_install(text: &str) -> Vec<(String, String)> {
    let package = |line: &str| {
        let rest = line.strip_prefix("Inst ")?;
        let name = rest.split_whitespace().next()?;
        let version = rest.split_once('(')?.1.split_whitespace().next()?;
        let plain =
            |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.:~_".contains(c));
        (plain(name) && plain(version)).then(|| (name.to_owned(), version.to_owned()))
    };
    text.lines().filter_map(package).collect()
}

/// Whether apt does not know the package or its version.
pub(super) fn is_not_found(stderr: &str) -> bool {
    let unknown = |line: &str| {
        line.starts_with("E: Unable to locate package")
            || (line.starts_with("E: Version '") && line.contains("was not found"))
            || line.contains("has no installation candidate")
    };
    stderr.lines().any(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_and_upgraded_packages_are_read() {
        let text = "Reading package lists...\nThe following NEW packages will be installed:\n  htop\n\
            Inst libnl-3-200 (3.7.0-0.2+b1 Debian:12.15/oldstable [amd64])\n\
            Inst bash [5.2.15-2+b8] (5.2.15-2+b13 Debian:12.15/oldstable [amd64])\n\
            Inst libc6:i386 (2:2.36-9 Debian:12.15/oldstable [i386])\n\
            Remv x [1]\nConf htop (3.2.2-2 Debian:12.15/oldstable [amd64])\nInst broken\n";
        let expected =
            [("libnl-3-200", "3.7.0-0.2+b1"), ("bash", "5.2.15-2+b13"), ("libc6:i386", "2:2.36-9")];
        let expected = expected.map(|(name, version)| (name.to_owned(), version.to_owned()));
        assert_eq!(packages_to_install(text), expected);
    }

    #[test]
    fn unknown_packages_and_versions_are_recognised() {
        assert!(is_not_found("E: Unable to locate package nosuch-zz\n"));
        assert!(is_not_found("E: Version '9.9' for 'htop' was not found\n"));
        assert!(is_not_found("E: Package 'awk' has no installation candidate\n"));
        assert!(!is_not_found("E: Unmet dependencies. Try 'apt --fix-broken install'\n"));
    }
}
