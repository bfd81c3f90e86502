//! ELF programs: whether the file is whole and for this machine, and whether the loader would find its
//! interpreter, its libraries and the symbol versions that it needs.

use super::FileQuestions;
use crate::file_facts::{DISPLAY_PROGRAM, FileFacts};
use goblin::elf::{Elf, Header, header, program_header};
use regex::bytes::Regex;

/// The number of this machine in the headers of its programs.
pub const THIS_MACHINE: u16 = if cfg!(target_arch = "x86_64") {
    header::EM_X86_64
} else if cfg!(target_arch = "aarch64") {
    header::EM_AARCH64
} else {
    header::EM_NONE
};

const MACHINES: &[(u16, &str)] = &[
    (header::EM_X86_64, "x86-64"),
    (header::EM_386, "x86"),
    (header::EM_AARCH64, "aarch64"),
    (header::EM_ARM, "arm"),
];

/// Machines that run the programs of another one, too.
const ALSO_RUNS: &[(u16, u16)] =
    &[(header::EM_X86_64, header::EM_386), (header::EM_AARCH64, header::EM_ARM)];

pub(super) fn check(path: &str, bytes: &[u8], questions: &dyn FileQuestions) -> FileFacts {
    let Ok(header) = Elf::parse_header(bytes) else { return FileFacts::faulty("elf", "truncated") };
    let machine = header.e_machine;
    let kind = format!("elf {}", machine_name(machine));
    if machine != THIS_MACHINE && !ALSO_RUNS.contains(&(THIS_MACHINE, machine)) {
        let own = machine_name(THIS_MACHINE);
        let fault = format!("wrong architecture (this machine is {own})");
        return FileFacts::faulty(&kind, fault);
    }
    if let Some(fault) = incomplete(&header, bytes) {
        return FileFacts::faulty(&kind, fault);
    }
    let Ok(elf) = Elf::parse(bytes) else { return FileFacts::faulty(&kind, "damaged") };
    let fault = not_a_program(&elf)
        .or_else(|| past_end(&elf, bytes))
        .or_else(|| interpreter(&elf, questions))
        .or_else(|| libraries(path, &elf, questions));
    match fault {
        Some(fault) => FileFacts::faulty(&kind, fault),
        None if elf.interpreter.is_none() => FileFacts::sound(format!("{kind}, static")),
        None => {
            let display = own_name_of_display_program(path, &elf, bytes);
            let display = display.map(|name| format!(", {DISPLAY_PROGRAM} {name}"));
            let display = display.unwrap_or_default();
            FileFacts::sound(format!("{kind}, interpreter and libraries found{display}"))
        }
    }
}

/// How the libraries begin that open a display.
const DISPLAY_LIBRARIES: &[&str] =
    &["libX", "libxcb", "libwayland-", "libgtk-", "libgdk-", "libQt", "libSDL", "libfltk", "libtk"];

/// The file's name, if the program opens a display and has that name in it, as programs have that print it.
/// Another program under the name does not.
fn own_name_of_display_program<'p>(path: &'p str, elf: &Elf<'_>, bytes: &[u8]) -> Option<&'p str> {
    let opens = |library: &&str| DISPLAY_LIBRARIES.iter().any(|start| library.starts_with(start));
    elf.libraries.iter().find(|library| opens(library))?;
    let name = path.rsplit('/').next().filter(|name| !name.contains([' ', ',']))?;
    let word = format!(r"(?i-u)\b{}\b", regex::escape(name));
    Regex::new(&word).ok()?.is_match(bytes).then_some(name)
}

fn machine_name(number: u16) -> String {
    let row = MACHINES.iter().find(|(known, _)| *known == number);
    row.map_or_else(|| format!("machine {number}"), |(_, name)| (*name).to_owned())
}

/// Whether a file is an ELF file for this machine: a library of another one has the same name.
pub fn is_for_this_machine(beginning: &[u8]) -> bool {
    let number = Elf::parse_header(beginning).map(|header| header.e_machine);
    number.is_ok_and(|number| THIS_MACHINE == header::EM_NONE || number == THIS_MACHINE)
}

/// The tables that the header names are in the file.
fn incomplete(header: &Header, bytes: &[u8]) -> Option<String> {
    let ends_at = |offset: u64, size: u16, count: u16| {
        offset.saturating_add(u64::from(size) * u64::from(count)) > bytes.len() as u64
    };
    if ends_at(header.e_phoff, header.e_phentsize, header.e_phnum) {
        return Some("truncated".to_owned());
    }
    ends_at(header.e_shoff, header.e_shentsize, header.e_shnum)
        .then(|| "section headers past end of file".to_owned())
}

fn past_end(elf: &Elf<'_>, bytes: &[u8]) -> Option<String> {
    let loads = elf.program_headers.iter().filter(|h| h.p_type == program_header::PT_LOAD);
    let mut ends = loads.map(|load| load.p_offset.saturating_add(load.p_filesz));
    ends.any(|end| end > bytes.len() as u64).then(|| "program segments past end of file".to_owned())
}

fn not_a_program(elf: &Elf<'_>) -> Option<String> {
    let kind = match elf.header.e_type {
        header::ET_REL => "object file",
        header::ET_CORE => "core dump",
        header::ET_DYN if elf.interpreter.is_none() && elf.entry == 0 => "shared library",
        header::ET_EXEC | header::ET_DYN => return None,
        _ => "file of unknown type",
    };
    Some(format!("{kind} is not a program"))
}

fn interpreter(elf: &Elf<'_>, questions: &dyn FileQuestions) -> Option<String> {
    let interpreter = elf.interpreter?;
    (!questions.exists(interpreter)).then(|| format!("interpreter {interpreter} missing"))
}

fn libraries(path: &str, elf: &Elf<'_>, questions: &dyn FileQuestions) -> Option<String> {
    let directories = search_path(path, elf);
    let found = |name: &str| match name.contains('/') {
        true => questions.exists(name).then(|| name.to_owned()),
        false => {
            let own = directories.iter().map(|directory| format!("{directory}/{name}"));
            own.into_iter().find(|path| questions.exists(path)).or_else(|| questions.library(name))
        }
    };
    for library in &elf.libraries {
        let Some(path) = found(library) else { return Some(format!("needed {library} not found")) };
        if let Some(version) = missing_version(elf, library, &path, questions) {
            return Some(format!("version {version} of {library} not found"));
        }
    }
    None
}

/// `DT_RUNPATH`, else `DT_RPATH`, with `$ORIGIN` for the directory of the program.
fn search_path(path: &str, elf: &Elf<'_>) -> Vec<String> {
    let origin = path.rsplit_once('/').map_or(".", |(directory, _)| directory);
    let paths = if elf.runpaths.is_empty() { &elf.rpaths } else { &elf.runpaths };
    let directories = paths.iter().flat_map(|path| path.split(':')).filter(|path| !path.is_empty());
    let filled = directories.map(|d| d.replace("${ORIGIN}", origin).replace("$ORIGIN", origin));
    filled.collect()
}

/// A symbol version that the program needs and the library does not define.
fn missing_version(
    elf: &Elf<'_>,
    library: &str,
    path: &str,
    questions: &dyn FileQuestions,
) -> Option<String> {
    const WEAK: u16 = 0x2;
    let needed = elf.verneed.as_ref()?;
    let entry = needed.iter().find(|need| elf.dynstrtab.get_at(need.vn_file) == Some(library))?;
    let defined = questions.library_versions(path)?;
    let required = entry.iter().filter(|version| version.vna_flags & WEAK == 0);
    let mut names = required.filter_map(|version| elf.dynstrtab.get_at(version.vna_name));
    names.find(|name| !defined.iter().any(|known| known == name)).map(str::to_owned)
}

/// The symbol versions that a library defines, for those who answer [`FileQuestions`].
pub fn defined_versions(library: &[u8]) -> Option<Vec<String>> {
    let elf = Elf::parse(library).ok()?;
    let definitions = elf.verdef.as_ref()?;
    let names = definitions.iter().filter_map(|definition| {
        let first = definition.iter().next()?;
        elf.dynstrtab.get_at(first.vda_name).map(str::to_owned)
    });
    Some(names.collect())
}
