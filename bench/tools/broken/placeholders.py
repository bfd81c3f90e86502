"""Files that only report that the tool is not there: stubs, proxies and shims, worded as real ones are."""
from .install import broken


def prints(install, text, code, interpreter="/bin/sh"):
    install.script(f"#!{interpreter}\ncat >&2 <<'END'\n{text}\nEND\nexit {code}\n")


@broken("a stub: not installed")
def stub_not_installed(install):
    prints(install, "heron is not installed. Install it with: apt install heron", 1)


@broken("a stub: not installed, exit code 0")
def stub_exit_zero(install):
    install.script("#!/bin/sh\necho 'heron is not installed. Install it with: apt install heron'\nexit 0\n")


@broken("the wrapper of a suite: its package is missing")
def stub_package(install):
    prints(install, "Error: You need to install the heron-client package for this", 1)


@broken("npm's placeholder: the postinstall script did not run", tool="esbuild")
def stub_postinstall(install):
    prints(install, """Error: esbuild's postinstall script did not run.

This file is a placeholder. Run the install script of the package:

  node node_modules/esbuild/install.js --help""", 1)


@broken("a proxy of rustup without its component", tool="miri")
def stub_toolchain(install):
    prints(install, "error: 'miri' is not installed for the toolchain 'stable-x86_64-unknown-linux-gnu'.\n"
           "To install, run `rustup component add miri`", 1)


@broken("a shim of pyenv without its version")
def shim_pyenv(install):
    prints(install, "pyenv: heron: command not found\n\nThe `heron' command exists in these Python versions:\n  3.8.18", 127, "/bin/bash")


@broken("a shim of asdf without its version")
def shim_asdf(install):
    prints(install, "No version is set for command heron\nConsider adding one of the following versions in your config file\n"
           "at /home/user/.tool-versions\nheron 2.4.1", 126, "/bin/bash")


@broken("a shim of rbenv: a gem's command without the gem")
def shim_rbenv(install):
    prints(install, "rbenv: heron: command not found\n\nThe `heron' command exists in these Ruby versions:\n  3.2.2", 127, "/bin/bash")


@broken("the stub that suggests a snap")
def stub_snap(install):
    prints(install, "Command 'heron' requires the heron snap to be installed.\nPlease install it with:\n\nsnap install heron", 1)


@broken("command-not-found under the tool's name")
def stub_command_not_found(install):
    prints(install, "Command 'heron' not found, but can be installed with:\n\napt install heron\n", 127)


@broken("a suite's wrapper whose own part is missing")
def stub_not_properly(install):
    prints(install, "heron: the heron runtime is not properly installed, see the manual", 1)


@broken("the alternatives of the tool are missing")
def stub_was_not_found(install):
    prints(install, "Error: heron-2.4 was not found in /usr/lib/heron/bin", 1)


@broken("silent, exit code 0: the program was replaced by `true`")
def silent_success(install):
    install.script("#!/bin/sh\nexit 0\n")


@broken("silent, exit code 1")
def silent_failure(install):
    install.script("#!/bin/sh\nexit 1\n")


@broken("silent, exit code 127")
def silent_not_found(install):
    install.script("#!/bin/sh\nexit 127\n")


@broken("another program's usage under this name")
def other_usage(install):
    install.script("#!/bin/sh\necho 'usage: bittern [-abc] [-o FILE] FILE...' >&2\nexit 1\n")


@broken("another program's help under this name")
def other_help(install):
    install.script("""#!/bin/sh
case "$1" in --help|-h) ;; *) echo "bittern: invalid option" >&2; exit 2;; esac
echo "Usage: bittern [-a] FILE"
""")


@broken("another program's version under this name; 2.4.1 was installed", expected="2.4.1")
def other_version(install):
    install.script("#!/bin/sh\necho 'bittern 7.0.3'\n")


@broken("another program's bare version; 2.4.1 was installed", expected="2.4.1", tool="hrn")
def other_suite_version(install):
    install.script("#!/bin/sh\necho 'GNU bittern (birdutils) 9.1'\necho 'Copyright (C) 2022 Free Software Foundation, Inc.'\n")
