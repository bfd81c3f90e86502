//! Names that a package gives its programs only while it is installed: `vim` is `vim.basic` until a
//! script of the package calls `update-alternatives`. The script is read, never run; what it computes
//! is not known here.

use super::PROGRAM_DIRECTORIES;

/// Names and the paths that they lead to, of one script.
pub(super) fn alternatives_of(script: &str) -> Vec<(String, String)> {
    let joined = script.replace("\\\n", " ");
    let alternative = |line: &str| {
        let words: Vec<&str> =
            line.split_whitespace().map(|w| w.trim_matches(['"', '\''])).collect();
        let at = words.iter().position(|word| *word == "update-alternatives")?;
        let install = at + words[at..].iter().position(|word| *word == "--install")?;
        let [link, _, target] = words.get(install + 1..install + 4)? else { return None };
        let inner =
            |path: &str| path.strip_prefix('/').filter(|p| !p.contains('$')).map(str::to_owned);
        let link = inner(link)?;
        let (directory, name) = link.rsplit_once('/')?;
        PROGRAM_DIRECTORIES.contains(&directory).then_some((name.to_owned(), inner(target)?))
    };
    joined.lines().filter_map(alternative).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_alternatives_are_read() {
        let script = "#!/bin/sh\nset -e\n\
            update-alternatives --install /usr/bin/figlet figlet \\\n\t/usr/bin/figlet-figlet 30 --slave /x y /z\n\
            \tupdate-alternatives --quiet --install /usr/sbin/iotop iotop \"/usr/sbin/iotop-py\" 50 \\\n --slave a b c\n\
            update-alternatives --install /usr/share/x x /usr/share/y 1\n\
            update-alternatives --remove figlet /usr/bin/figlet-figlet\n\
            update-alternatives --install /usr/bin/mpg123 mpg123 \"/usr/bin/$FILENAME\" 1\n\
            update-alternatives --install /usr/bin/short\n";
        let expected = [("figlet", "usr/bin/figlet-figlet"), ("iotop", "usr/sbin/iotop-py")];
        let expected = expected.map(|(name, path)| (name.to_owned(), path.to_owned()));
        assert_eq!(alternatives_of(script), expected);
        assert!(alternatives_of("").is_empty());
    }
}
