"""Programs that the loader cannot start: libraries, symbols, machines, and files that are not whole."""
import os, shutil, struct

from .install import broken, c_program, sound

PART = "int part(void) { return 0; }\n"
USES_PART = ("int part(void);", "if (part()) return 1;")
NEWER = "int newer(void) { return 0; }\n"
MACHINE_AT = 18


def with_library(install, *flags):
    declarations, first = USES_PART
    install.library("part", PART)
    install.compile(c_program(install.tool, first=first, declarations=declarations), *install.links("part"), *flags)


def with_newer_symbols(install, soname, library, version):
    """Links against a library that is newer than the machine's: one more version of its symbols."""
    script = install.write("version.map", f"{version} {{ global: newer; }};\n")
    install.library(library, NEWER, f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}")
    source = c_program(install.tool, first="if (newer()) return 1;", declarations="int newer(void);")
    install.compile(source, f"-L{install.path('lib')}", f"-l{library}")
    shutil.rmtree(install.path("lib"))
    os.remove(script)


def patch(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


@sound("a library beside the program")
def library_present(install):
    with_library(install)


@sound("a program that needs nothing of its own")
def plain_program(install):
    install.compile(c_program(install.tool))


@sound("a static program")
def static_program(install):
    install.compile(c_program(install.tool), "-static")


@broken("needs a library that is not there")
def missing_library(install):
    with_library(install)
    shutil.rmtree(install.path("lib"))


@broken("needs a library of which only another major version is there")
def library_other_major(install):
    with_library(install)
    os.rename(install.path("lib/libpart.so.1"), install.path("lib/libpart.so.2"))
    os.remove(install.path("lib/libpart.so"))


@broken("needs a library that needs another one, which is not there")
def missing_indirect_library(install):
    install.library("leaf", PART.replace("part", "leaf"))
    install.library("part", "int leaf(void);\nint part(void) { return leaf(); }\n", *install.links("leaf"))
    declarations, first = USES_PART
    install.compile(c_program(install.tool, first=first, declarations=declarations), *install.links("part"))
    os.remove(install.path("lib/libleaf.so"))
    os.remove(install.path("lib/libleaf.so.1"))


@broken("its library is a text file")
def library_not_elf(install):
    with_library(install)
    install.write("lib/libpart.so.1", "INPUT(libpart_real.so)\n" * 40)


@broken("its library is empty")
def library_empty(install):
    with_library(install)
    install.write("lib/libpart.so.1", "")


@broken("its library is for another machine")
def library_wrong_architecture(install):
    with_library(install)
    patch(install.path("lib/libpart.so.1"), MACHINE_AT, struct.pack("<H", 183))


@broken("its library is only half there")
def library_truncated(install):
    with_library(install)
    whole = install.bytes(install.path("lib/libpart.so.1"))
    install.write("lib/libpart.so.1", whole[:len(whole) // 4])


def elf_hash(name):
    value = 0
    for byte in name:
        value = (value << 4) + byte
        value = (value ^ (value & 0xF0000000) >> 24) & 0x0FFFFFFF
    return struct.pack("<I", value)


@broken("needs a newer glibc than the machine has (libc)")
def glibc_version(install):
    install.compile(c_program(install.tool))
    whole = install.bytes()
    # The version that all programs need; its name and its hash become those of a later one.
    old = next(name for name in (b"GLIBC_2.34", b"GLIBC_2.17", b"GLIBC_2.2.5") if name + b"\0" in whole)
    new = b"GLIBC_2.9" + old[-1:] if len(old) == 10 else b"GLIBC_2.9.5"
    if elf_hash(old) not in whole:
        raise FileNotFoundError(f"{old.decode()} in the versions that a program needs")
    install.script(whole.replace(old + b"\0", new + b"\0").replace(elf_hash(old), elf_hash(new)))


@broken("needs a newer glibc than the machine has (libm)")
def glibc_version_libm(install):
    with_newer_symbols(install, "libm.so.6", "newm", "GLIBC_2.99")


@broken("needs a newer libstdc++ than the machine has")
def glibcxx_version(install):
    with_newer_symbols(install, "libstdc++.so.6", "newcxx", "GLIBCXX_3.4.99")


@broken("its own library lacks the symbol version that it needs")
def own_library_version(install):
    script = install.write("version.map", "PART_2.0 { global: part; };\n")
    declarations, first = USES_PART
    install.library("part", PART, f"-Wl,--version-script={script}")
    install.compile(c_program(install.tool, first=first, declarations=declarations), *install.links("part"))
    install.write("version.map", "PART_1.0 { global: part; };\n")
    install.library("part", PART, f"-Wl,--version-script={script}")


@broken("its library lacks a function, found at the start")
def undefined_symbol(install):
    with_library(install, "-Wl,-z,now")
    install.library("part", "int other(void) { return 0; }\n")


@broken("its library lacks a function, found after the version was printed")
def undefined_symbol_late(install):
    install.library("part", PART)
    source = c_program(install.tool, after_version="return part();", declarations="int part(void);")
    install.compile(source, *install.links("part"), "-Wl,-z,lazy")
    install.library("part", "int other(void) { return 0; }\n")


@broken("is for another machine (aarch64)")
def wrong_architecture(install):
    install.compile(c_program(install.tool))
    patch(install.program, MACHINE_AT, struct.pack("<H", 183))


@broken("is for another machine (s390x, big endian)")
def wrong_byte_order(install):
    header = b"\x7fELF\x02\x02\x01" + bytes(9) + struct.pack(">HHI", 2, 22, 1)
    install.script(header + struct.pack(">QQQIHHHHHH", 0x1000000, 64, 0, 0, 64, 56, 0, 64, 0, 0) + bytes(4096))


@broken("is a 32-bit program without the 32-bit loader")
def missing_32_bit_loader(install):
    install.compile("void _start(void) { for (;;); }\nint data = 1;\n", "-m32", "-nostdlib", "-fPIE", "-pie",
                    "-Wl,--dynamic-linker=/lib/ld-linux-i386-absent.so.2")


@broken("its loader is musl's, which is not there")
def missing_loader_musl(install):
    install.compile(c_program(install.tool), "-Wl,--dynamic-linker=/lib/ld-musl-absent.so.1")


@broken("its loader is in a Nix store, which is not there")
def missing_loader_nix(install):
    loader = "/nix/store/0r6kcvvfpdxdbjkrq9xwkmyh9bmpyyxq-glibc-2.40/lib/ld-linux-x86-64.so.2"
    install.compile(c_program(install.tool), f"-Wl,--dynamic-linker={loader}")


@broken("ELF, interrupted after a quarter")
def truncated_quarter(install):
    install.compile(c_program(install.tool))
    whole = install.bytes()
    install.script(whole[:len(whole) // 4])


@broken("ELF, interrupted after four fifths")
def truncated_most(install):
    install.compile(c_program(install.tool), "-static")
    whole = install.bytes()
    install.script(whole[:len(whole) * 4 // 5])


@broken("ELF, only its header")
def header_only(install):
    install.compile(c_program(install.tool))
    install.script(install.bytes()[:64])


@broken("ELF of the right size, but most of it zeros")
def mostly_zeros(install):
    install.compile(c_program(install.tool), "-static")
    whole = install.bytes()
    install.script(whole[:len(whole) // 8] + bytes(len(whole) - len(whole) // 8))


@broken("an object file that was never linked")
def object_file(install):
    install.compile(c_program(install.tool), "-c")
    os.chmod(install.program, 0o755)


@broken("a shared library instead of the program")
def library_as_program(install):
    install.compile(PART, "-shared", "-fPIC")
    os.chmod(install.program, 0o755)
