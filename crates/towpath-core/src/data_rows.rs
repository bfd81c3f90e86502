//! Data files: facts about foreign programs, one line each, compiled into the program. Two or more blanks
//! are between columns, `.` is an empty column, `#` begins a comment, `[name]` a section.

/// The rows of a data file. The last column has the rest of its line; columns that are missing are empty.
pub fn data_rows<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|mut rest| {
        let mut columns = [""; N];
        for column in &mut columns[..N - 1] {
            let (first, others) = rest.split_once("  ").unwrap_or((rest, ""));
            (*column, rest) = (first, others.trim_start());
        }
        columns[N - 1] = rest;
        columns.map(|column| if column == "." { "" } else { column })
    })
}

/// A section of a data file; empty where there is none of that name.
pub fn data_section(text: &'static str, name: &str) -> &'static str {
    let (_, section) = text.split_once(&format!("\n[{name}]\n")).unwrap_or_default();
    let next = |line: &&str| line.starts_with('[') && line.ends_with(']');
    let end = section
        .lines()
        .find(next)
        .map_or(section.len(), |line| line.as_ptr() as usize - section.as_ptr() as usize);
    &section[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# A comment.\n\n[one]\na  .  the rest,  as it is\n[\nb\n\n[two]\n# Another.\nc  d\n";

    #[test]
    fn rows_have_their_columns() {
        let rows: Vec<[&str; 3]> = data_rows(data_section(TEXT, "one")).collect();
        assert_eq!(rows, [["a", "", "the rest,  as it is"], ["[", "", ""], ["b", "", ""]]);
        assert_eq!(data_rows(data_section(TEXT, "two")).collect::<Vec<[&str; 2]>>(), [["c", "d"]]);
        assert_eq!(data_section(TEXT, "three"), "");
    }
}
