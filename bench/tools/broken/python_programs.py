"""Python programs that lack something, with the system's interpreter and with environments of their own."""
import os, shutil, subprocess

from .install import VERSION, broken, sound

PYTHON = "/usr/bin/python3"
MAIN = """import argparse
parser = argparse.ArgumentParser(prog="heron", description="Counts the birds in FILE.")
parser.add_argument("--version", action="version", version="heron 2.4.1")
parser.add_argument("file")
parser.parse_args()
"""
PATHS = """import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "lib"))
"""


def program(install, text, interpreter=PYTHON):
    install.script(f"#!{interpreter}\n{PATHS}{text}")


def environment(install, name="venv"):
    """An environment with a console script, as pip writes it."""
    venv = install.path(name)
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    packages = next(os.path.join(root, "site-packages") for root, names, _ in os.walk(venv) if "site-packages" in names)
    os.mkdir(os.path.join(packages, "heron"))
    with open(os.path.join(packages, "heron", "__init__.py"), "w") as file:
        file.write("def main():\n" + "".join(f"    {line}\n" for line in MAIN.splitlines()))
    script = f"#!{venv}/bin/python3\nimport sys\nfrom heron import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    install.write(f"{name}/bin/heron", script, 0o755)
    os.symlink(f"../{name}/bin/heron", install.program)
    return venv, packages


@sound("a Python program with its module")
def python_module_present(install):
    install.write("lib/heron_birds.py", "COUNT = 0\n")
    program(install, "import heron_birds\n" + MAIN)


@sound("a Python environment")
def python_environment(install):
    environment(install)


@broken("a Python module is missing")
def python_module(install):
    program(install, "import heron_birds\n" + MAIN)


@broken("a Python module is missing, and only --version needs it")
def python_module_lazy(install):
    program(install, """if "--version" in sys.argv or "-V" in sys.argv:
    from heron_birds.release import version
    print("heron", version)
    sys.exit()
""" + MAIN)


@broken("a Python module is missing; the program reports it and exits with 0")
def python_module_caught(install):
    program(install, """try:
    import heron_birds
except ImportError as error:
    print("Could not run heron, some parts are not there:")
    print(f"- {error}")
    sys.exit(0)
""" + MAIN)


@broken("a Python module is missing; the program reports it with its usage and exits with 2")
def python_module_usage(install):
    program(install, """try:
    import heron_birds
except ImportError as error:
    print(f"usage: heron [-h] [--version] file\\nheron: error: {error}", file=sys.stderr)
    sys.exit(2)
""" + MAIN)


@broken("the library part of a Python module is not ELF")
def python_extension(install):
    install.write("lib/_heron.so", "not a library\n" * 20)
    program(install, "import _heron\n" + MAIN)


@broken("a Python module lacks the name that is imported")
def python_name(install):
    install.write("lib/heron_birds.py", "OLD = 1\n")
    program(install, "from heron_birds import count\n" + MAIN)


@broken("the metadata of the Python package is missing")
def python_metadata(install):
    program(install, "from importlib.metadata import version\nVERSION = version('heron-birds')\n" + MAIN)


@broken("a Python script of pkg_resources without its distribution")
def python_distribution(install):
    # pkg_resources is not everywhere: its class and its last line, as setuptools writes them.
    install.write("lib/pkg_resources/__init__.py", """class ResolutionError(Exception):
    pass
class DistributionNotFound(ResolutionError):
    def __str__(self):
        return f"The '{self.args[0]}' distribution was not found and is required by the application"
def require(name):
    raise DistributionNotFound(name, None)
""")
    program(install, "import pkg_resources\npkg_resources.require('heron-birds==2.4.1')\n" + MAIN)


@broken("a syntax error: written for Python 2")
def python_syntax(install):
    program(install, "print 'heron 2.4.1'\n")


@broken("a syntax error in one of its modules")
def python_module_syntax(install):
    install.write("lib/heron_birds.py", "def count(:\n")
    program(install, "import heron_birds\n" + MAIN)


@broken("needs a newer Python, and reports it")
def python_too_old(install):
    program(install, "if sys.version_info < (4, 2):\n"
            "    sys.exit('heron 2.4.1 requires Python 4.2 or later, and this is Python %d.%d' % sys.version_info[:2])\n" + MAIN)


@broken("a data file of the Python package is missing")
def python_data(install):
    program(install, "RULES = open(os.path.join(sys.path[0], 'heron', 'rules.txt')).read()\n" + MAIN)


@broken("a Python environment that was moved")
def python_environment_moved(install):
    venv, _ = environment(install, "build")
    os.rename(venv, install.path("venv"))
    os.remove(install.program)
    os.symlink("../venv/bin/heron", install.program)


@broken("a Python environment whose Python was removed")
def python_environment_dangling(install):
    venv, _ = environment(install)
    for name in os.listdir(os.path.join(venv, "bin")):
        if name.startswith("python"):
            os.remove(os.path.join(venv, "bin", name))
    os.symlink("/usr/bin/python3.99", os.path.join(venv, "bin", "python3"))


@broken("a Python environment without the packages: another Python's directory")
def python_environment_empty(install):
    _, packages = environment(install)
    os.renames(packages, packages.replace("/python3", "/python2"))


@broken("a console script whose package is only half there")
def python_entry_point(install):
    _, packages = environment(install)
    with open(os.path.join(packages, "heron", "__init__.py"), "w") as file:
        file.write(f"__version__ = '{VERSION}'\n")


@broken("a wheel's directory without the compiled part")
def python_compiled_part(install):
    install.write("lib/heron/__init__.py", "from . import _speedups\n")
    program(install, "import heron\n" + MAIN)


@broken("python -m with a package that has no such module")
def python_dash_m(install):
    install.script('#!/bin/sh\nexec /usr/bin/python3 -m heron_birds.main "$@"\n')


@broken("its script was deleted, the wrapper remains")
def python_script_deleted(install):
    install.script(f'#!/bin/sh\nexec /usr/bin/python3 {install.path("share/heron/main.py")} "$@"\n')
    shutil.rmtree(install.path("share"), ignore_errors=True)
