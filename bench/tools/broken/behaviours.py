"""Programs that start and then crash, panic, hang or flood."""
import shutil, subprocess

from .install import broken, c_program

CRASH = "volatile int *nowhere = 0; *nowhere = 1;"


@broken("crashes after its title (SIGSEGV)")
def crash_after_title(install):
    first = 'puts("heron, the bird counter"); fflush(stdout); ' + CRASH
    install.compile(c_program(install.tool, first=first))


@broken("crashes after its version (SIGSEGV)")
def crash_after_version(install):
    install.compile(c_program(install.tool, after_version=CRASH))


@broken("crashes after its usage (SIGSEGV)")
def crash_after_usage(install):
    install.compile(c_program(install.tool, first="usage(stderr); " + CRASH))


@broken("crashes at once (SIGSEGV)")
def crash_at_once(install):
    install.compile(c_program(install.tool, first=CRASH))


@broken("a wrapper reports its child's crash as exit code 139")
def crash_of_child(install):
    install.compile(c_program(install.tool, after_version=CRASH), to=install.path("libexec/heron"))
    install.script(f'#!/bin/sh\n{install.path("libexec/heron")} "$@" 2>/dev/null\nexit $?\n')


@broken("a wrapper hides its child's crash: exit code 0")
def crash_of_child_hidden(install):
    install.compile(c_program(install.tool, after_version=CRASH), to=install.path("libexec/heron"))
    install.script(f'#!/bin/bash\n{install.path("libexec/heron")} "$@"\nexit 0\n')


@broken("aborts (SIGABRT)")
def abort(install):
    install.compile(c_program(install.tool, first='fprintf(stderr, "heron: birds.c:42: count: Assertion `n > 0\' failed.\\n"); abort();'))


@broken("an instruction that the machine does not have (SIGILL)")
def illegal_instruction(install):
    install.compile(c_program(install.tool, first="__builtin_trap();"))


@broken("divides by zero (SIGFPE)")
def division_by_zero(install):
    install.compile(c_program(install.tool, first="volatile int zero = argc - argc; printf(\"%d\\n\", 2401 / zero);"), "-O0")


@broken("overwrites its stack")
def stack_smashing(install):
    declarations = "static void __attribute__((noinline)) copy(char *to) { memset(to, 'x', 256); }"
    declarations += "\nstatic int __attribute__((noinline)) smash(void) { char small[8]; copy(small); return small[0]; }"
    install.compile(c_program(install.tool, first="if (smash() == 1) return 1;", declarations=declarations), "-fstack-protector-all", "-O0")


@broken("an uncaught exception in C++")
def cxx_terminate(install):
    source = c_program(install.tool, first='throw std::runtime_error("no birds");', declarations="#include <stdexcept>")
    install.compile(source, compiler="g++")


@broken("a Rust panic")
def rust_panic(install):
    if shutil.which("rustc"):
        source = 'fn main() { let birds: Option<u32> = std::env::var("HERON_BIRDS").ok().map(|_| 1); println!("{}", birds.unwrap()); }\n'
        subprocess.run(["rustc", "-o", install.program, "-"], input=source.encode(), check=True)
    else:
        install.script("#!/bin/sh\necho \"thread 'main' panicked at src/main.rs:1:90:\" >&2\nexit 101\n")


@broken("a Rust panic that its main function turned into exit code 0")
def rust_panic_caught(install):
    install.script("#!/bin/sh\necho \"thread 'main' (4711) panicked at src/main.rs:1:90:\" >&2\n"
                   "echo 'called `Option::unwrap()` on a `None` value' >&2\nexit 0\n")


@broken("a Go panic")
def go_panic(install):
    install.script("""#!/bin/sh
cat >&2 <<'END'
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x48f1a2]

goroutine 1 [running]:
main.main()
	/build/heron/main.go:14 +0x1b
END
exit 2
""")


@broken("killed as the kernel does without memory")
def killed(install):
    install.script("#!/bin/sh\necho heron 2.4.1\nkill -9 $$\n")


@broken("hangs")
def hangs(install):
    install.script("#!/bin/sh\nexec sleep 600\n")


@broken("hangs after its version")
def hangs_after_version(install):
    install.script("#!/bin/sh\necho heron 2.4.1\nexec sleep 600\n")


@broken("hangs in a loop")
def hangs_busy(install):
    install.compile(c_program(install.tool, first="for (volatile int turn = 0;; turn++);"))


@broken("prints without end")
def floods(install):
    install.script("#!/bin/sh\necho heron 2.4.1\nexec yes 'heron: warning: no birds'\n")


@broken("prints without end on stderr")
def floods_stderr(install):
    install.script("#!/bin/sh\necho heron 2.4.1\nexec yes 'heron: warning: no birds' >&2\n")


@broken("prints nothing but zeros and control bytes")
def prints_bytes(install):
    install.script("#!/bin/sh\nprintf '\\000\\001\\002\\377\\033[2J\\000\\000'\nexit 0\n")


@broken("prints its version, then cannot load its own part; exit code 1")
def fatal_after_version(install):
    install.script("#!/bin/sh\necho 'heron 2.4.1'\necho 'heron: fatal: cannot load the plugin core: file not found' >&2\nexit 1\n")


@broken("a fatal error that begins with its name and version; exit code 1")
def fatal_with_version(install):
    install.script("#!/bin/sh\necho 'heron 2.4.1: fatal error: cannot load birds.db' >&2\nexit 1\n")
