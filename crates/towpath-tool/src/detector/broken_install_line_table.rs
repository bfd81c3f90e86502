//! What loaders, shells, interpreters and placeholders print when a program cannot work. Every row is
//! the shape of a whole line, not a word that any help text may contain. A group `missing` is the thing
//! that was not found: when that is our own argument, the program works.

use super::line_regex_table::{LineTable, Row, row};
use crate::verdict_and_evidence::EvidenceKind::{self, *};

pub(super) static BROKEN: LineTable<EvidenceKind> = LineTable::new(ROWS);

const ROWS: &[Row<EvidenceKind>] = &[
    // The dynamic loader: glibc, musl, macOS.
    row(
        MissingLibrary,
        "error while loading shared libraries",
        r"^\S.*: error while loading shared libraries: (?P<missing>[^:]+)",
    ),
    row(MissingLibrary, "error loading shared library", r"^Error loading shared library \S+: "),
    row(
        MissingLibrary,
        "cannot open shared object file",
        r"(?P<missing>\S+): cannot open shared object file",
    ),
    row(MissingLibrary, "library not loaded", r"^dyld(\[\d+\])?: Library not loaded"),
    row(
        LibraryVersion,
        "not found (required by",
        r": version [`'‘][^'’]+['’] not found \(required by ",
    ),
    row(LibraryVersion, "isa level", r"CPU ISA level is lower than required"),
    row(LibraryVersion, "kernel too old", r"^FATAL: kernel too old"),
    row(MissingSymbol, "symbol lookup error", r"^\S.*: symbol lookup error: "),
    row(MissingSymbol, "error relocating", r"^Error relocating \S+: "),
    row(MissingSymbol, "symbol not found", r"^dyld(\[\d+\])?: .*Symbol not found"),
    row(MissingSymbol, "inconsistency detected by ld.so", r"^Inconsistency detected by ld\.so"),
    row(MissingLibrary, "dlopen(): error loading", r"^dlopen\(\): error loading \S+"),
    row(
        MissingInterpreter,
        "could not open '/lib",
        r"^qemu\S*: Could not open '/lib[^']*': No such file or directory$",
    ),
    // A shell that cannot start something: `SCRIPT: 2: exec: PATH: not found`, `SCRIPT: line 2: PATH: …`.
    row(WrongFormat, "exec format error", r"^\S+: (line )?\d+: (exec: )?\S+: Exec format error$"),
    row(WrongFormat, "cannot execute binary file", r"^\S+: .*cannot execute binary file"),
    row(
        MissingInterpreter,
        "required file not found",
        r"^\S+: .*cannot execute: required file not found$",
    ),
    row(MissingInterpreter, "bad interpreter", r"^\S+: .*bad interpreter: "),
    row(
        MissingProgram,
        "not found",
        r"^\S+: (line )?\d+: (exec: )?(?P<missing>[^:]+): (command )?not found$",
    ),
    row(
        MissingProgram,
        "command not found",
        r"^(ba|da|z|k|)sh: (?P<missing>\S+): command not found$",
    ),
    row(
        MissingProgram,
        "no such file or directory",
        r"^\S+: line \d+: (exec: )?(?P<missing>/[^:]+): No such file or directory$",
    ),
    row(MissingPath, "cannot open", r"^\S+: (line )?\d+: \.: cannot open (?P<missing>[^:]+)"),
    row(MissingPath, "can't open", r"^\S+: (line )?\d+: \.: can't open (?P<missing>[^:]+)"),
    row(
        MissingPath,
        "file not found",
        r"^\S+: (line )?\d+: (\.|source): (?P<missing>[^:]+): file not found$",
    ),
    row(MissingPath, "can't cd to", r"^\S+: (line )?\d+: cd: can't cd to (?P<missing>\S+)$"),
    row(
        MissingPath,
        "cd: /",
        r"^\S+: line \d+: cd: (?P<missing>/[^:]+): No such file or directory$",
    ),
    row(
        SyntaxError,
        "syntax error",
        r"^\S+: (line )?\d+: syntax error(: |\b.* near unexpected token)",
    ),
    row(SyntaxError, "bad substitution", r"^\S+: (line )?\d+: .*bad substitution$"),
    row(
        MissingProgram,
        "command not found: ",
        r"^zsh(:\d+)?: command not found: (?P<missing>\S+)$",
    ),
    row(
        MissingProgram,
        "executable file not found in",
        r#"exec: "(?P<missing>[^"]+)": executable file not found in \$PATH"#,
    ),
    row(MissingProgram, "unknown command", r"^fish: Unknown command:? '?(?P<missing>[^\s']+)"),
    // A program that hands over to another one: compiler drivers, Perl wrappers.
    row(
        MissingProgram,
        "error trying to exec",
        r"\berror trying to exec ['‘`\x22](?P<missing>[^'’\x22]+)['’\x22]: exec\w*: No such file",
    ),
    row(
        MissingProgram,
        "cannot execute",
        r"\bcannot execute ['‘`\x22](?P<missing>[^'’\x22]+)['’\x22]: exec\w*: No such file",
    ),
    row(MissingProgram, "exec failed at", r"\bexec failed at \S+ line \d+"),
    // env and its two-word lines.
    row(
        MissingInterpreter,
        "env: ",
        r"^(\S*/)?env: (can't execute )?[‘'`\x22]?(?P<missing>[^’'\x22:]+)[’'\x22]?: (No such file or directory|Permission denied)",
    ),
    // Python
    row(MissingModule, "modulenotfounderror", r"^([\w.]+\.)?ModuleNotFoundError\b"),
    row(MissingModule, "importerror", r"^([\w.]+\.)?ImportError: "),
    row(MissingModule, "no module named", r"\bNo module named ['\x22‘]?(?P<missing>[\w.-]+)"),
    row(MissingModule, "packagenotfounderror", r"^([\w.]+\.)?PackageNotFoundError\b"),
    row(MissingModule, "distributionnotfound", r"^([\w.]+\.)?DistributionNotFound\b"),
    row(MissingModule, "versionconflict", r"^([\w.]+\.)?(Contextual)?VersionConflict\b"),
    row(MissingModule, "namespace", r"^ValueError: Namespace \S+ not available"),
    row(SyntaxError, "error: ", r"^(SyntaxError|IndentationError|TabError): "),
    row(
        MissingPath,
        "can't open file",
        r"^\S*python\S*: can't open file ['\x22](?P<missing>[^'\x22]+)['\x22]",
    ),
    row(MissingPath, "can't open perl script", r#"^Can't open perl script "(?P<missing>[^"]+)""#),
    row(MissingPath, "could not open input file", r"^Could not open input file: (?P<missing>\S+)$"),
    row(MissingPath, ": cannot open /", r"^lua\S*: cannot open (?P<missing>/\S+)$"),
    // Node
    row(
        MissingModule,
        "cannot find ",
        r"^(Uncaught )?(\w*Error)( \[\w+\])?: Cannot find (module ['\x22]?|package ['\x22])(?P<missing>[^'\x22\s]+)",
    ),
    row(MissingModule, "module_not_found", r"^\s*code: '(ERR_)?MODULE_NOT_FOUND'"),
    row(MissingModule, "and is needed by", r"could not be found, and is needed by \S+$"),
    row(MissingModule, "bindings file", r"^Error: Could not locate the bindings file"),
    row(WrongFormat, "err_dlopen_failed", r"^\s*code: 'ERR_DLOPEN_FAILED'"),
    row(WrongFormat, "elf", r"\.(node|so)(\.\d+)*: (invalid ELF header|wrong ELF class)"),
    row(WrongFormat, "file too short", r"\.(node|so)(\.\d+)*: file too short$"),
    row(
        LibraryVersion,
        "different node.js version",
        r"was compiled against a different Node\.js version",
    ),
    // Perl
    row(MissingModule, "can't locate ", r"^Can't locate (?P<missing>\S+) in @INC"),
    row(MissingModule, "loadable object", r"^Can't locate loadable object for module \S+ in @INC"),
    row(MissingModule, "begin failed", r"^BEGIN failed--compilation aborted at \S+ line \d+"),
    row(MissingModule, "can't load '", r"^Can't load '[^']+' for module "),
    row(MissingModule, "true value at", r"^\S+ did not return a true value at \S+ line \d+"),
    row(LibraryVersion, "are mismatched", r"\bloadable library and perl binaries are mismatched\b"),
    row(SyntaxError, "syntax error at ", r"^syntax error at \S+ line \d+, near "),
    row(LibraryVersion, "required--this is only", r"required--this is only (version )?v?\S+"),
    // Ruby, PHP, Lua, Tcl, R, Guile, Emacs
    row(MissingModule, "cannot load such file", r"cannot load such file -- (?P<missing>\S+)"),
    row(MissingModule, "among", r"Could not find '[^']+' \([^)]*\) among \d+ total gem"),
    row(MissingModule, "could not find gem", r"^Could not find gem '"),
    row(
        MissingModule,
        "could not find ",
        r"^Could not find \S+-\d\S*(, \S+-\d\S*)* in (locally installed gems|any of the sources)",
    ),
    row(
        MissingModule,
        "gem::",
        r"\(Gem::(GemNotFoundException|MissingSpecError|MissingSpecVersionError|LoadError)\)",
    ),
    row(SyntaxError, "syntax error", r"^\S+:\d+: syntax errors?(,| found)"),
    row(SyntaxError, "parse error:", r"^(PHP )?Parse error:\s+syntax error, "),
    row(
        SyntaxError,
        " near ",
        r"^lua\S*: \S+:\d+: (syntax error|unexpected symbol|unfinished \w+|'[^']+' expected).* near ",
    ),
    row(LibraryVersion, "issues in your platform", r"^Composer detected issues in your platform"),
    row(MissingModule, "failed opening required", r"Failed opening required '(?P<missing>[^']+)'"),
    row(MissingModule, "module '", r"^\S*lua\S*: .*module '[^']+' not found"),
    row(MissingModule, "can't find package", r"^can't find package \S+"),
    row(
        MissingPath,
        "couldn't read file",
        r#"^couldn't read file "(?P<missing>/[^"]+)": no such file or directory$"#,
    ),
    row(MissingModule, "there is no package called", r"there is no package called [‘'`]"),
    row(MissingModule, "no code for module", r"\bno code for module \("),
    row(MissingModule, "not found in current path", r"\bPackage \S+ not found in current path\b"),
    row(
        MissingModule,
        "collection not found",
        r"^standard-module-name-resolver: collection not found",
    ),
    row(MissingModule, "cannot open load file", r"^Cannot open load file: "),
    // Java, .NET, Mono
    row(MissingPath, "unable to access jarfile", r"^Error: Unable to access jarfile "),
    row(WrongFormat, "corrupt jarfile", r"^Error: Invalid or corrupt jarfile "),
    row(
        MissingModule,
        "could not find or load main class",
        r"^Error: Could not find or load main class ",
    ),
    row(
        MissingModule,
        "java.lang.",
        r"\bjava\.lang\.(NoClassDefFoundError|ClassNotFoundException)\b",
    ),
    row(
        LibraryVersion,
        "unsupportedclassversionerror",
        r"\bjava\.lang\.UnsupportedClassVersionError\b",
    ),
    row(MissingPath, "no main manifest attribute", r"^no main manifest attribute, in "),
    row(
        MissingProgram,
        "java_home",
        r"JAVA_HOME (environment variable )?is not (set|defined) (and|correctly)",
    ),
    row(
        MissingModule,
        ".net to run this application",
        r"^You must install( or update)? \.NET to run this application",
    ),
    row(
        MissingLibrary,
        "a fatal error occurred",
        r"^A fatal error occurred\. The required library \S+ (could not be|was not) found",
    ),
    row(MissingProgram, "java runtime", r"\bNo (suitable )?java runtime was found\b"),
    row(MissingModule, "could not load file or assembly", r"Could not load file or assembly '"),
    row(MissingModule, "cannot open assembly", r"^Cannot open assembly '(?P<missing>[^']+)'"),
    // Crashes that are reported in words.
    row(Panic, "panicked at", r"^thread '[^']*' (\(\d+\) )?panicked at "),
    row(Panic, "goroutine ", r"^goroutine \d+ (gp=\S+ )?.*\[[^\]]+\]:$"),
    row(
        Panic,
        "terminate called",
        r"^terminate called (after throwing|without an active exception)",
    ),
    row(
        Panic,
        "java runtime environment",
        r"^# A fatal error has been detected by the Java Runtime Environment",
    ),
    row(Crash, "segmentation fault", r"^(\S+: (line )?\d+: +\d+ )?Segmentation fault\b"),
    row(Crash, "illegal instruction", r"^(\S+: (line )?\d+: +\d+ )?Illegal instruction\b"),
    row(Crash, "bus error", r"^(\S+: (line )?\d+: +\d+ )?Bus error\b"),
    row(Crash, "aborted", r"^(\S+: (line )?\d+: +\d+ )?Aborted( \(core dumped\).*|\s+\S+.*)?$"),
    row(Crash, "stack smashing detected", r"^\*\*\* stack smashing detected \*\*\*"),
    row(Crash, "sanitizer: ", r"^==\d+== ?ERROR: \w+Sanitizer: "),
    // Placeholders and dead proxies.
    row(
        Placeholder,
        "please install ",
        r"^(error: )?please install \S+( \w+)? to (use|run) (this|the) (command|program|tool|script|application)\b",
    ),
    row(
        Placeholder,
        "install at least one",
        r"\byou (must|need to|have to) install at least one \S+ package\b",
    ),
    row(Placeholder, "failed to install correctly", r"\bfailed to install correctly\b"),
    row(
        Placeholder,
        "binary for your platform",
        r"\b(did not|could not|couldn't|unable to|failed to) find (the|a) (correct |right )?binary for your platform\b",
    ),
    row(Placeholder, "able to find the binary at", r"\bnot able to find the binary at\b"),
    row(Placeholder, "postinstall script", r"postinstall script (did not|was not|has not)\b"),
    row(Placeholder, "not installed. install", r"\bis not installed\. Install it with\b"),
    row(Placeholder, "you need to install", r"\bYou need to install the \S+ package\b"),
    row(Placeholder, "was not found in /", r"^(?P<missing>.*\S) was not found in /"),
    row(
        Placeholder,
        "is not available for the",
        r"\bcomponent\b.* is not available for the .*\btoolchain\b",
    ),
    row(Placeholder, "for the toolchain", r"^error: .* is not installed for the toolchain "),
    row(
        Placeholder,
        "for the custom toolchain",
        r"^error: .* is not installed for the custom toolchain ",
    ),
    row(Placeholder, "snap to be installed", r"\brequires the \S+ snap to be installed\b"),
    row(Placeholder, "is not properly installed", r"\bis not properly installed\b"),
    row(
        Placeholder,
        "but can be installed with",
        r"^Command '\S+' not found, but can be installed with",
    ),
    row(Placeholder, "currently not installed", r"^The program '\S+' is currently not installed"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        BROKEN.compile_all();
    }
}
