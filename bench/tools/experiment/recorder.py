"""Runs a program in bubblewrap and records what it did. Nothing here judges.

The user is unprivileged, the system read-only, HOME and the working directory are empty and private;
there is no network and no input. A small part of this file runs inside, so that exit codes, signals and
the errno of a failed start are exact.
"""
import errno, json, os, select, shutil, signal, subprocess, sys, time

LADDER = ["--version", "-V", "-version", "--help", "-h"]
TIME_LIMIT = 10
OUTPUT_LIMIT = 1 << 20
KEPT = 64 << 10
NOBODY = 65534
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def sandbox(readable):
    """The command that starts the sandbox. The user is changed first: as root, files would be root's."""
    argv = [] if os.getuid() else ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    argv += ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--proc", "/proc", "--dev", "/dev"]
    for directory in ["/usr", "/etc", "/opt"]:
        argv += ["--ro-bind-try", directory, directory]
    for link in ["/bin", "/sbin", "/lib", "/lib32", "/lib64"]:
        if os.path.islink(link):
            argv += ["--symlink", os.readlink(link), link]
        elif os.path.isdir(link):
            argv += ["--ro-bind", link, link]
    argv += ["--dir", "/var"]
    for directory in ["/tmp", "/run", "/var/tmp", "/scratch"]:
        argv += ["--size", str(256 << 20), "--tmpfs", directory]
    for path in readable:
        argv += ["--ro-bind", path, path]
    return argv + ["--chdir", "/", "--clearenv", "--setenv", "PATH", PATH]


def record(path, arguments=LADDER, readable=None, shell=False):
    """One run per argument, all in one sandbox. `readable` is the directory of the install. With `shell`,
    `sh -c` starts the program, as a check that is stored as a line of shell would."""
    beside = [readable] if readable else [] if path.startswith("/usr/") else [os.path.dirname(path)]
    with open(__file__) as file:
        source = file.read()
    inside = ["/usr/bin/python3", "-I", "-S", "-c", source, "sh" if shell else "exec", path, *arguments]
    ran = subprocess.run(sandbox(beside) + ["--", *inside], stdin=subprocess.DEVNULL, capture_output=True)
    try:
        probes = [json.loads(line) for line in ran.stdout.decode().splitlines()]
    except ValueError:
        probes = []
    if len(probes) != len(arguments):
        sys.exit(f"{path}: the sandbox failed with {ran.returncode}: {ran.stderr.decode(errors='replace')[-400:]}")
    return probes


def run_inside(via, path, *arguments):
    """Within the sandbox: runs the program with each argument and prints a line of JSON for each."""
    for number, argument in enumerate(arguments):
        directory = f"/scratch/{number}"
        os.makedirs(directory)
        command = ["/bin/sh", "-c", f'"{path}" {argument}'] if via == "sh" else [path, argument]
        print(json.dumps({"argument": argument, **probe(command, directory)}), flush=True)
        shutil.rmtree(directory, ignore_errors=True)


def limits():
    import resource
    for what, most in [(resource.RLIMIT_CPU, TIME_LIMIT), (resource.RLIMIT_FSIZE, 16 << 20),
                       (resource.RLIMIT_NPROC, 512), (resource.RLIMIT_CORE, 0)]:
        resource.setrlimit(what, (most, most))


def probe(command, directory):
    environment = {"PATH": PATH, "HOME": directory, "TMPDIR": directory, "LC_ALL": "C", "TERM": "dumb"}
    began = time.monotonic()
    streams = {"stdout": b"", "stderr": b""}
    try:
        child = subprocess.Popen(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=limits)
    except OSError as error:
        end = "exec:" + errno.errorcode.get(error.errno, str(error.errno))
    else:
        end = watch(child, streams, began)
    files = sorted(os.path.relpath(os.path.join(root, name), directory)
                   for root, _, names in os.walk(directory) for name in names)
    text = {name: content[:KEPT].decode(errors="replace") for name, content in streams.items()}
    return {"exit": end, **text, "ms": round((time.monotonic() - began) * 1000), "files": files[:20]}


def watch(child, streams, began):
    """Reads both streams until the process ends; what it left running does not count."""
    names = {child.stdout.fileno(): "stdout", child.stderr.fileno(): "stderr"}
    pidfd = os.pidfd_open(child.pid)
    end = None
    while end is None:
        left = TIME_LIMIT - (time.monotonic() - began)
        ready = select.select([pidfd, *names], [], [], max(left, 0))[0]
        read(ready, names, streams)
        if sum(map(len, streams.values())) > OUTPUT_LIMIT:
            end = "output-limit"
        elif pidfd in ready:
            while names and read(select.select(list(names), [], [], 0)[0], names, streams):
                pass
            code = child.wait()
            end = code if code >= 0 else f"signal:{-code}"
        elif left <= 0:
            end = "timeout"
    end_all()
    os.close(pidfd)
    return end


def end_all():
    """Ends all processes of this sandbox, but for its first one and this one."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def read(ready, names, streams):
    """Reads what is there; true if more may follow."""
    got = False
    for descriptor in [d for d in ready if d in names]:
        content = os.read(descriptor, 65536)
        got = got or bool(content)
        if content:
            streams[names[descriptor]] += content
        else:
            del names[descriptor]
    return got and sum(map(len, streams.values())) <= OUTPUT_LIMIT


if __name__ == "__main__":
    run_inside(*sys.argv[1:])
