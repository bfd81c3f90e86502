//! Where a symbolic link of an archive leads, followed as the kernel would, through the other links of
//! the archive. Comparing the text alone is not enough: with `here -> .`, the target `here/..` looks as
//! if it stayed inside, and does not.

use std::collections::BTreeMap;

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// Whether the link stays inside at every step. `links` has the targets by the path of the link.
pub(super) fn stays_inside(link: &str, links: &BTreeMap<String, String>) -> bool {
    let mut left: Vec<&str> = Vec::new();
    let mut at: Vec<&str> = link.split('/').collect();
    let mut followed = 0;
    loop {
        // `at` is a link here: it leaves the path, and its target is walked from its directory.
        let path = at.join("/");
        let Some(target) = links.get(&path) else { return false };
        followed += 1;
        if followed > MOST_LINKS || target.starts_with('/') || target.is_empty() {
            return false;
        }
        at.pop();
        left.extend(target.split('/').rev());
        let next_link = loop {
            let Some(component) = left.pop() else { break false };
            match component {
                "" | "." => {}
                ".." => {
                    if at.pop().is_none() {
                        return false;
                    }
                }
                name => {
                    at.push(name);
                    if links.contains_key(&at.join("/")) {
                        break true;
                    }
                }
            }
        };
        if !next_link {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Links<'l> = &'l [(&'l str, &'l str)];

    #[test]
    fn links_are_followed_through_other_links() {
        let links = |pairs: Links<'_>| -> BTreeMap<String, String> {
            pairs.iter().map(|(link, target)| ((*link).to_owned(), (*target).to_owned())).collect()
        };
        let cases: &[(Links<'_>, &str, bool)] = &[
            (&[("a", "b")], "a", true),
            (&[("lib/a.so", "a.so.1")], "lib/a.so", true),
            (&[("bin/x", "../lib/x")], "bin/x", true),
            (&[("bin/x", "./../bin/../lib/x/")], "bin/x", true),
            (&[("bin/x", "../../lib/x")], "bin/x", false),
            (&[("a", "..")], "a", false),
            (&[("a", "b/../..")], "a", false),
            (&[("a", "/etc/passwd")], "a", false),
            (&[("a", "")], "a", false),
            (&[("here", "."), ("a", "here/..")], "a", false),
            (&[("d/up", ".."), ("a", "d/up/x")], "a", true),
            (&[("d/up", ".."), ("a", "d/up/..")], "a", false),
            (&[("a", "b"), ("b", "../x")], "a", false),
            (&[("deep/e/l", "../.."), ("x", "deep/e/l/../y")], "x", false),
            (&[("a", "a")], "a", false),
            (&[("a", "b"), ("b", "a")], "a", false),
        ];
        for (pairs, link, inside) in cases {
            assert_eq!(stays_inside(link, &links(pairs)), *inside, "{pairs:?} {link}");
        }
    }
}
