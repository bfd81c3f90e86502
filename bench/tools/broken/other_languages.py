"""Programs in JavaScript, Perl, Java and Tcl that lack a part, for interpreters that the machine has."""
import os, shutil, struct, subprocess, zipfile

from .install import broken, c_program, sound

NODE_MAIN = """if (process.argv[2] === '--version') { console.log('heron 2.4.1'); process.exit(0); }
console.log('Usage: heron [options] <file>\\n\\nOptions:\\n  --version  print the version');
"""
PERL_MAIN = """use Getopt::Long;
GetOptions('version' => sub { print "heron 2.4.1\\n"; exit 0 }) or exit 2;
print "Usage: heron [--version] FILE\\n";
"""
JAVA_MAIN = """public class Heron {
    public static void main(String[] words) {
        System.out.println(words.length > 0 && words[0].equals("--version") ? "heron 2.4.1" : "Usage: heron FILE " + Bird.name());
    }
}
"""


def node(install, text):
    """As npm installs it: a link to the package's script."""
    install.write("lib/node_modules/heron/package.json", '{"name": "heron", "version": "2.4.1"}\n')
    install.write("lib/node_modules/heron/cli.js", "#!/usr/bin/env node\n" + text, 0o755)
    os.symlink("../lib/node_modules/heron/cli.js", install.program)


def perl(install, text):
    install.script("#!/usr/bin/perl\nuse FindBin;\nuse lib \"$FindBin::RealBin/../lib\";\n" + text)


def java(install, *classes, manifest="Main-Class: Heron\n"):
    """A jar with these classes, and the usual wrapper."""
    install.write("build/Heron.java", JAVA_MAIN)
    install.write("build/Bird.java", 'public class Bird { public static String name() { return "heron"; } }\n')
    subprocess.run(["javac", "-d", install.path("build"), install.path("build/Heron.java"), install.path("build/Bird.java")], check=True)
    os.makedirs(install.path("share/heron"))
    with zipfile.ZipFile(install.path("share/heron/heron.jar"), "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n" + manifest)
        for name in classes:
            jar.write(install.path(f"build/{name}.class"), f"{name}.class")
    install.script(f'#!/bin/sh\nexec java -jar {install.path("share/heron/heron.jar")} "$@"\n')


@sound("a Node program with its module")
def node_module_present(install):
    node(install, "require('heron-birds');\n" + NODE_MAIN)
    install.write("lib/node_modules/heron/node_modules/heron-birds/index.js", "exports.count = 0;\n")


@sound("a Perl program with its module")
def perl_module_present(install):
    install.write("lib/Heron/Birds.pm", "package Heron::Birds;\n1;\n")
    perl(install, "use Heron::Birds;\n" + PERL_MAIN)


@sound("a Java program with all classes")
def java_jar_present(install):
    java(install, "Heron", "Bird")


@broken("a Node module is missing (require)")
def node_module(install):
    node(install, "require('heron-birds');\n" + NODE_MAIN)


@broken("a Node module is missing (import)")
def node_import(install):
    node(install, "import birds from 'heron-birds';\n" + NODE_MAIN)
    install.write("lib/node_modules/heron/package.json", '{"name": "heron", "version": "2.4.1", "type": "module"}\n')


@broken("a file of the Node package itself is missing")
def node_own_file(install):
    node(install, "require('./dist/main.js');\n" + NODE_MAIN)


@broken("the optional package with the compiled program is missing")
def node_optional_package(install):
    node(install, """try { require.resolve('@heron/linux-x64/bin/heron'); } catch (error) {
  throw new Error(`The package "@heron/linux-x64" could not be found, and is needed by heron.

If you are installing heron with npm, make sure that you don't specify the
"--no-optional" or "--omit=optional" flags. The "optionalDependencies" feature
of "package.json" is used by heron to install the correct binary executable
for your current platform.`);
}
""")


@broken("the compiled part of a Node package is not a library")
def node_addon(install):
    install.write("lib/node_modules/heron/build/heron.node", "not a library\n" * 20)
    node(install, "require('./build/heron.node');\n" + NODE_MAIN)


@broken("the compiled part of a Node package was never built")
def node_bindings(install):
    node(install, """const error = new Error('Could not locate the bindings file. Tried:\\n → ' + __dirname + '/build/heron.node');
throw error;
""")


@broken("a syntax error in a Node program")
def node_syntax(install):
    node(install, "const = 1;\n" + NODE_MAIN)


@broken("needs a newer Node, and reports it")
def node_too_old(install):
    node(install, "console.error(`heron 2.4.1 requires Node.js 99.0.0 or newer, this is ${process.version}`);\nprocess.exit(1);\n")


@broken("npm's link to a package that was removed")
def node_link(install):
    node(install, NODE_MAIN)
    shutil.rmtree(install.path("lib/node_modules/heron"))


@broken("a Perl module is missing")
def perl_module(install):
    perl(install, "use Heron::Birds;\n" + PERL_MAIN)


@broken("the library part of a Perl module is missing")
def perl_library(install):
    install.write("lib/Heron/Birds.pm", "package Heron::Birds;\nour $VERSION = '2.4.1';\nrequire XSLoader;\nXSLoader::load('Heron::Birds', $VERSION);\n1;\n")
    perl(install, "use Heron::Birds;\n" + PERL_MAIN)


@broken("the library part of a Perl module is not ELF")
def perl_library_not_elf(install):
    install.write("lib/Heron/Birds.pm", "package Heron::Birds;\nour $VERSION = '2.4.1';\nrequire XSLoader;\nXSLoader::load('Heron::Birds', $VERSION);\n1;\n")
    install.write("lib/auto/Heron/Birds/Birds.so", "not a library\n" * 20)
    perl(install, "use Heron::Birds;\n" + PERL_MAIN)


@broken("a syntax error in a Perl program")
def perl_syntax(install):
    perl(install, "my $x = ;\n" + PERL_MAIN)


@broken("needs a newer Perl")
def perl_too_old(install):
    perl(install, "use v5.99;\n" + PERL_MAIN)


@broken("a Perl module of another version")
def perl_module_version(install):
    install.write("lib/Heron/Birds.pm", "package Heron::Birds;\nour $VERSION = '1.0';\n1;\n")
    perl(install, "use Heron::Birds 2.4;\n" + PERL_MAIN)


@broken("the jar is missing")
def java_jar(install):
    java(install, "Heron", "Bird")
    os.remove(install.path("share/heron/heron.jar"))


@broken("the main class is not in the jar")
def java_main_class(install):
    java(install, "Bird")


@broken("a class is missing, found when it is used")
def java_class(install):
    java(install, "Heron")
    install.script(f'#!/bin/sh\nexec java -cp {install.path("share/heron/heron.jar")} Heron\n')


@broken("the jar has no main class in its manifest")
def java_manifest(install):
    java(install, "Heron", "Bird", manifest="")


@broken("compiled for a newer Java")
def java_too_old(install):
    java(install, "Heron", "Bird")
    code = bytearray(install.bytes(install.path("build/Heron.class")))
    code[6:8] = struct.pack(">H", 99)
    with zipfile.ZipFile(install.path("share/heron/heron.jar"), "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Heron\n")
        jar.writestr("Heron.class", bytes(code))


@broken("the jar is interrupted")
def java_jar_truncated(install):
    java(install, "Heron", "Bird")
    whole = install.bytes(install.path("share/heron/heron.jar"))
    install.write("share/heron/heron.jar", whole[:len(whole) // 2])


@broken("a Tcl package is missing")
def tcl_package(install):
    install.script("#!/usr/bin/tclsh\npackage require heron_birds\nputs {heron 2.4.1}\n")


@broken("a file that the Tcl program reads first is missing")
def tcl_source(install):
    install.script(f"#!/usr/bin/tclsh\nsource {install.path('share/heron/main.tcl')}\nputs {{heron 2.4.1}}\n")


@broken("a C program whose helper in libexec is missing")
def missing_helper(install):
    helper = install.path("libexec/heron-core")
    first = f'execl("{helper}", "heron-core", asked, NULL); fprintf(stderr, "{install.tool}: "); perror("{helper}"); return 1;'
    install.compile(c_program(install.tool, first=first, declarations="#include <unistd.h>"))


@broken("a C program whose data files are missing")
def missing_data(install):
    data = install.path("share/heron/birds.db")
    first = f'if (!fopen("{data}", "r")) {{ fprintf(stderr, "{install.tool}: {data}: No such file or directory\\n"); return 1; }}'
    install.compile(c_program(install.tool, first=first))
