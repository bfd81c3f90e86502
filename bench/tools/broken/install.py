"""What the builders share: the list of installs, and one install's directory with its program.

An install is a directory ID with bin/TOOL, and whatever the program needs beside it. The twins in SOUND
are the same installs before something was broken: a detector that refuses everything would accept none.
"""
import os, shutil, subprocess

BROKEN, SOUND = [], []
VERSION = "2.4.1"


class Install:
    def __init__(self, root, tool):
        self.root, self.tool = root, tool
        self.program = os.path.join(root, "bin", tool)
        os.makedirs(os.path.dirname(self.program))

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, content, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(path, mode)
        return path

    def script(self, content, mode=0o755):
        """The program itself."""
        return self.write(os.path.join("bin", self.tool), content, mode)

    def compile(self, source, *flags, to=None, compiler="gcc"):
        """The program, or another file of the install, from C."""
        to = to or self.program
        os.makedirs(os.path.dirname(to), exist_ok=True)
        language = "c++" if compiler == "g++" else "c"
        subprocess.run([compiler, "-x", language, "-o", to, "-", "-x", "none", *flags], input=source.encode(), check=True)
        return to

    def library(self, name, source, *flags):
        """lib/libNAME.so, as libNAME.so.1 for the loader unless the flags give it another name."""
        named = any("-soname" in flag for flag in flags)
        flags = flags if named else (*flags, f"-Wl,-soname,lib{name}.so.1")
        path = self.compile(source, "-shared", "-fPIC", *flags, to=self.path(f"lib/lib{name}.so"))
        if not named:
            shutil.copy(path, self.path(f"lib/lib{name}.so.1"))
        return path

    def links(self, name):
        """Flags that link the program with that library, and find it beside the program."""
        return f"-L{self.path('lib')}", f"-l{name}", "-Wl,-rpath,$ORIGIN/../lib", f"-Wl,-rpath-link,{self.path('lib')}"

    def bytes(self, path=None):
        with open(path or self.program, "rb") as file:
            return file.read()


def c_program(tool, after_version="", first="", declarations=""):
    """A small tool as there are many: a version, a help text, and an answer to everything else."""
    return f"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{declarations}
static void usage(FILE *to) {{
    fputs("Usage: {tool} [OPTION]... FILE\\nCounts the birds in FILE.\\n\\n"
          "  -q, --quiet    print nothing\\n  -h, --help     print this help\\n      --version  print the version\\n", to);
    fflush(to);
}}
int main(int argc, char **argv) {{
    const char *asked = argc > 1 ? argv[1] : "";
    {first}
    if (!strcmp(asked, "--version") || !strcmp(asked, "-V")) {{
        printf("{tool} {VERSION}\\n");
        fflush(stdout);
        {after_version}
        return 0;
    }}
    if (!strcmp(asked, "--help") || !strcmp(asked, "-h")) {{ usage(stdout); {after_version} return 0; }}
    fprintf(stderr, "{tool}: unrecognized option '%s'\\n", asked);
    usage(stderr);
    return 2;
}}
"""


def broken(what, tool="heron", expected=None):
    """A builder of a broken install; its name is the kind's. `expected` is the version that was installed."""
    return lambda build: register(BROKEN, build, what, tool, expected)


def sound(what, tool="heron", expected=None):
    """A builder of an install that works."""
    return lambda build: register(SOUND, build, what, tool, expected)


def register(where, build, what, tool, expected):
    where.append((build.__name__.strip("_").replace("_", "-"), what, tool, expected, build))
    return build
