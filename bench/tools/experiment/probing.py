"""Calls `towpath tool probe` and reads its answer, several programs at a time. A probe that does not end, or
whose answer cannot be read, is the verdict `failed`: it must be seen in the tables, not end the measurement.
"""
import concurrent.futures, json, os, signal, subprocess, sys, time

from .recorder import PATH

ACCEPTED = {"works-by-version", "works-by-help", "alive"}
OPEN = {"timeout", "unknown", "failed"}
VERDICTS = ["works-by-version", "works-by-help", "alive", "environment", "broken", "timeout", "unknown"]
# Two time limits of a probe, and what starting them costs; far more than any probe takes.
LIMIT = 300


class Towpath:
    def __init__(self, program, home, flags=()):
        self.program, self.flags = program, list(flags)
        # Only the system's own directories: what is found must not depend on who measures.
        self.environment = {"PATH": PATH, "HOME": home, "LC_ALL": "C"}

    def probe(self, program, name=None, expected=None):
        """The answer as it is printed, with the seconds that it took."""
        argv = [self.program, "tool", "probe", program, "--json", *self.flags]
        argv += ["--name", name] if name else []
        argv += ["--expect", expected] if expected else []
        began = time.monotonic()
        child = subprocess.Popen(argv, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
        try:
            stdout, stderr = child.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            stdout, stderr = child.communicate()
        return {**answer_of(stdout, stderr, child.returncode), "seconds": round(time.monotonic() - began, 3)}


def answer_of(stdout, stderr, code):
    try:
        answer = json.loads(stdout)
        if answer["verdict"] in VERDICTS and code == (0 if answer["verdict"] in ACCEPTED else 1):
            return answer
    except (ValueError, KeyError, TypeError):
        pass
    text = f"`tool probe` ended with {code}: {(stderr or stdout).decode(errors='replace').strip()[-800:]}"
    return {"verdict": "failed", "evidence": {"text": text}, "probes": [], "sandbox": "unknown"}


def runs_of(answer):
    """The runs of an answer by their argument, as the recorder writes them; those that were not made are absent."""
    found = {}
    for probe in answer["probes"]:
        run = probe.get("observation", probe)
        words = run["command"].split(" ")
        if len(words) == 2 and not run.get("terminal") and run["exit"] != "exec:not-run":
            found.setdefault(words[1], {"argument": words[1], "exit": run["exit"], "stdout": run.get("stdout", ""),
                                        "stderr": run.get("stderr", "")})
    return found


def in_parallel(work, items, jobs, what):
    """The results in the order of the items, with a line about the progress now and then."""
    results = []
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    try:
        for number, result in enumerate(pool.map(work, items), 1):
            results.append(result)
            if number % 100 == 0 or number == len(items):
                print(f"{what}: {number} of {len(items)}", file=sys.stderr)
    finally:
        pool.shutdown(cancel_futures=True)
    return results
