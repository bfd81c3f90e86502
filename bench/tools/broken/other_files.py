"""Files that no kernel starts, and `#!` lines that lead nowhere."""
import gzip, io, lzma, os, struct, tarfile, zipfile

from .install import broken, c_program, sound

HEALTHY = "echo 'heron 2.4.1'\n"


@sound("a script for sh")
def plain_script(install):
    install.script("#!/bin/sh\n" + HEALTHY)


@sound("a link to the program")
def link_to_program(install):
    install.write("libexec/heron-2.4.1", "#!/bin/sh\n" + HEALTHY, 0o755)
    os.symlink("../libexec/heron-2.4.1", install.program)


@broken("an empty file")
def empty_file(install):
    install.script("")


@broken("a file with one newline")
def newline_only(install):
    install.script("\n")


@broken("a text file")
def text_file(install):
    install.script("Not Found\n")


@broken("a README instead of the program")
def readme_file(install):
    install.script("# heron\n\nUsage: heron [OPTION]... FILE\n\nVersion 2.4.1\n")


@broken("the JSON of an error")
def json_error(install):
    install.script('{"message": "Not Found", "documentation_url": "https://docs.example.org/rest"}\n')


@broken("a page in HTML")
def html_page(install):
    install.script("<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>heron 2.4.1</body></html>\n")


@broken("an error of a storage service in XML")
def xml_error(install):
    install.script('<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>\n')


@broken("a pointer of git-lfs")
def pointer_file(install):
    install.script("version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d7a" * 16 + "\nsize 8812344\n")


@broken("a link that git wrote as a file")
def link_as_text(install):
    install.script("../libexec/heron-2.4.1")


@broken("a Mach-O program")
def mach_o(install):
    header = struct.pack("<IIIIIIII", 0xFEEDFACF, 0x0100000C, 0, 2, 0, 0, 0x85, 0)
    install.script(header + bytes(4096))


@broken("a universal Mach-O program")
def mach_o_universal(install):
    install.script(struct.pack(">IIIIIII", 0xCAFEBABE, 1, 0x01000007, 3, 4096, 4096, 12) + bytes(8192))


@broken("a Windows program")
def windows_program(install):
    stub = b"MZ\x90\x00" + bytes(56) + struct.pack("<I", 128) + b"\x0e\x1f\xba\x0e This program cannot be run in DOS mode.\r\n$"
    install.script(stub.ljust(128, b"\0") + b"PE\0\0" + struct.pack("<H", 0x8664) + bytes(512))


@broken("compressed with gzip")
def gzip_file(install):
    install.compile(c_program(install.tool))
    install.script(gzip.compress(install.bytes()))


@broken("compressed with xz")
def xz_file(install):
    install.compile(c_program(install.tool))
    install.script(lzma.compress(install.bytes()))


@broken("an archive that was not unpacked (tar)")
def tar_file(install):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("heron-2.4.1/README")
        archive.addfile(member)
    install.script(buffer.getvalue())


@broken("an archive that was not unpacked (zip)")
def zip_file(install):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("heron-2.4.1/README", "heron\n")
    install.script(buffer.getvalue())


@broken("WebAssembly")
def wasm_file(install):
    install.script(b"\0asm\1\0\0\0" + bytes(64))


@broken("a program that is not executable")
def no_execute_bit(install):
    install.compile(c_program(install.tool))
    os.chmod(install.program, 0o644)


@broken("a script that is not executable")
def script_no_execute_bit(install):
    install.script("#!/bin/sh\n" + HEALTHY, 0o644)


@broken("a directory")
def directory(install):
    os.mkdir(install.program)


@broken("a link to nothing")
def dangling_link(install):
    os.symlink("../libexec/heron-2.4.1", install.program)


@broken("a link to itself, by way of another")
def link_loop(install):
    os.symlink("heron-current", install.program)
    os.symlink("heron", install.path("bin/heron-current"))


@broken("a link into a home directory of the machine that built it")
def link_to_other_home(install):
    os.symlink("/home/builder/heron/target/release/heron", install.program)


@broken("the interpreter of its `#!` line is missing")
def missing_interpreter(install):
    install.script("#!/usr/local/heron/bin/perl5.99\nprint 'heron 2.4.1';\n")


@broken("CR at the end of its `#!` line")
def carriage_return(install):
    install.script("#!/bin/sh\r\necho 'heron 2.4.1'\r\n")


@broken("CR at the end of its `#!` line, with env")
def carriage_return_env(install):
    install.script("#!/usr/bin/env python3\r\nprint('heron 2.4.1')\r\n")


@broken("a byte order mark before `#!`")
def byte_order_mark(install):
    install.script(b"\xef\xbb\xbf#!/bin/sh\n" + HEALTHY.encode())


@broken("a blank line before `#!`")
def blank_line_first(install):
    install.script("\n#!/usr/bin/python3\nprint('heron 2.4.1')\n")


@broken("a `#!` line without an interpreter")
def empty_interpreter(install):
    install.script("#!\n" + HEALTHY)


@broken("`#!/usr/bin/env X`, and X is not on PATH")
def env_word_missing(install):
    install.script("#!/usr/bin/env ruby3.99\nputs 'heron 2.4.1'\n")


@broken("`#!/usr/bin/env` with two words, without -S")
def env_two_words(install):
    install.script("#!/usr/bin/env node --no-warnings\nconsole.log('heron 2.4.1');\n")


@broken("the interpreter is a script whose own interpreter is missing")
def interpreter_chain(install):
    interpreter = install.write("libexec/runner", "#!/usr/local/heron/bin/absent\n", 0o755)
    install.script(f"#!{interpreter}\n" + HEALTHY)


@broken("the interpreter is there, but not executable")
def interpreter_no_execute_bit(install):
    interpreter = install.write("libexec/runner", "#!/bin/sh\nexec sh \"$@\"\n", 0o644)
    install.script(f"#!{interpreter}\n" + HEALTHY)
