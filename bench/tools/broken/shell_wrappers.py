"""Wrappers around something that is not there, and shell scripts that cannot work."""
from .install import broken, c_program, sound


@sound("a wrapper and what it starts")
def wrapper_target_present(install):
    install.compile(c_program(install.tool), to=install.path("libexec/heron"))
    install.script(f'#!/bin/sh\nexec {install.path("libexec/heron")} "$@"\n')


@broken("the wrapper starts a path that is missing (sh)")
def wrapper_sh(install):
    install.script('#!/bin/sh\nexec /opt/heron-absent/bin/heron "$@"\n')


@broken("the wrapper starts a path that is missing (bash)")
def wrapper_bash(install):
    install.script('#!/bin/bash\nexec /opt/heron-absent/bin/heron "$@"\n')


@broken("the wrapper starts a name that is not on PATH (sh)")
def wrapper_name_sh(install):
    install.script('#!/bin/sh\nheron-core "$@"\n')


@broken("the wrapper starts a name that is not on PATH (bash)")
def wrapper_name_bash(install):
    install.script('#!/bin/bash\nheron-core "$@"\n')


@broken("the wrapper swallows the failure with `|| true` (sh)")
def wrapper_swallows_sh(install):
    install.script('#!/bin/sh\n/opt/heron-absent/bin/heron "$@" || true\n')


@broken("the wrapper swallows the failure with `|| true` (bash)")
def wrapper_swallows_bash(install):
    install.script('#!/bin/bash\n/opt/heron-absent/bin/heron "$@" || true\n')


@broken("the wrapper prints its title, then starts a path that is missing")
def wrapper_title(install):
    install.script('#!/bin/sh\necho "heron 2.4.1 launcher"\n/opt/heron-absent/bin/heron "$@"\n')


@broken("the wrapper prints its usage when what it starts is missing")
def wrapper_usage(install):
    install.script('#!/bin/sh\nheron-core "$@" || { echo "Usage: heron [OPTION]... FILE" >&2; exit 1; }\n')


@broken("the wrapper hides the message, and nothing is printed")
def wrapper_silent(install):
    install.script('#!/bin/sh\nexec 2>/dev/null\n/opt/heron-absent/bin/heron "$@"\n')


@broken("the wrapper reads a file that is missing (sh)")
def wrapper_sources_sh(install):
    install.script('#!/bin/sh\n. /opt/heron-absent/lib/common.sh\necho "heron 2.4.1"\n')


@broken("the wrapper reads a file that is missing, and continues (bash)")
def wrapper_sources_bash(install):
    install.script('#!/bin/bash\nsource /opt/heron-absent/lib/common.sh\nheron_main "$@"\n')


@broken("the wrapper starts a program for another machine")
def wrapper_wrong_format(install):
    core = install.write("libexec/heron", b"\xcf\xfa\xed\xfe" + bytes(512), 0o755)
    install.script(f'#!/bin/sh\n{core} "$@"\n')


@broken("the wrapper starts a program that is not executable")
def wrapper_not_executable(install):
    core = install.write("libexec/heron", "#!/bin/sh\necho heron 2.4.1\n", 0o644)
    install.script(f'#!/bin/sh\n{core} "$@"\n')


@broken("the wrapper changes into a directory that is missing")
def wrapper_directory(install):
    install.script('#!/bin/sh\nset -e\ncd /opt/heron-absent\n./heron "$@"\n')


@broken("a script for bash that sh runs")
def bash_in_sh(install):
    install.script('#!/bin/sh\nbirds=(heron stork)\necho "heron 2.4.1 ${birds[0]}"\n')


@broken("a script that ends in the middle (bash)")
def script_truncated(install):
    install.script('#!/bin/bash\nmain() {\n  if [ "$1" = --version ]; then\n    echo "heron 2.4.1"\n')


@broken("a script that ends inside of quotes (sh)")
def script_truncated_quotes(install):
    install.script('#!/bin/sh\ncase "$1" in\n  --version) echo "heron 2.4.1\n')


@broken("the wrapper's Java is missing")
def wrapper_java_home(install):
    install.script("""#!/bin/sh
JAVA_HOME=/opt/heron-absent/jdk
if [ ! -x "$JAVA_HOME/bin/java" ]; then
  echo "The JAVA_HOME environment variable is not defined correctly," >&2
  echo "this environment variable is needed to run this program." >&2
  exit 1
fi
exec "$JAVA_HOME/bin/java" -jar /opt/heron-absent/heron.jar "$@"
""")


@broken("the wrapper starts itself, without end")
def wrapper_recursion(install):
    install.script(f'#!/bin/sh\nexec {install.program} "$@"\n')
