"""The broken installs of the experiment, one function each; `make-broken` builds them all."""
from . import behaviours, elf_files, other_files, other_languages, placeholders, python_programs, shell_wrappers
from .install import BROKEN, SOUND

__all__ = ["BROKEN", "SOUND", "behaviours", "elf_files", "other_files", "other_languages", "placeholders",
           "python_programs", "shell_wrappers"]
