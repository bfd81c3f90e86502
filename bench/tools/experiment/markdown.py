"""The results as tables for docs/tools.md."""
import os, platform, statistics

from .probing import ACCEPTED, OPEN, VERDICTS
from .seed_rules import READINGS

LABELS = ["works", "needs-environment", "cannot-be-known", "broken"]
# What is right for a program with that label. A program that waits for a display may reach the time limit.
RIGHT = {"works": ACCEPTED, "broken": {"broken"}, "needs-environment": {"environment", "timeout"},
         "cannot-be-known": {"unknown", "timeout"}}


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "–"


def rows(head, body):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in body])


def code(text, most=90):
    """A printed line as code in a cell."""
    text = "".join(c if c.isprintable() else " " for c in text or "").replace("|", "\\|").replace("`", "'")
    return f"`{text[:most]}{'…' if len(text) > most else ''}`" if text.strip() else "nothing printed"


def machine(results):
    return (f"{results['date']}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, {results['system']}, "
            f"{results['jobs']} programs at a time; `bench/tools/run`. Sandbox: {results['sandbox']}.")


def seen(programs):
    """The verdicts, and `failed` where there is one."""
    return VERDICTS + ["failed"] * any(program["verdict"] == "failed" for program in programs)


def count(programs, verdicts):
    return sum(program["verdict"] in verdicts for program in programs)


def verdict_table(results):
    programs = results["programs"]
    seconds = sorted(program["seconds"] for program in programs)
    body = [[verdict, count(programs, {verdict}), share(count(programs, {verdict}), len(programs))] for verdict in seen(programs)]
    settled = len(programs) - count(programs, OPEN)
    runs = statistics.mean(len(program["probes"]) for program in programs)
    return "\n\n".join([
        rows(["verdict", "programs", "share"], body),
        f"Of {len(programs)} programs of `/usr/bin` and `/usr/sbin` ({results['excluded']} are excluded, see "
        f"`bench/tools/excluded.tsv`), {settled} are settled without a model: **{share(settled, len(programs))}** (aim: 97 %). "
        f"{runs:.1f} runs per program; {statistics.median(seconds) * 1000:.0f} ms per program in the middle, "
        f"{seconds[int(len(seconds) * 0.95)]:.1f} s or less for 95 %; {results['seconds']:.0f} s in all, with the runs that only the design needs."])


def seed_table(results):
    body = []
    for reading in READINGS:
        got = [program["seed"][reading] for program in results["programs"]]
        body.append([reading, *(got.count(word) for word in ("passes", "repaired", "fallback", "model"))])
    ours = results["programs"]
    body.append(["Towpath, by evidence", "–", "–", "–", count(ours, OPEN)])
    return rows(["the design's reading", "exit code 0 passes", "repaired by the output", "by --help or -h", "left for a model"], body)


def broken_table(results):
    broken, sound = results["broken"], results["sound"]
    names = lambda chosen: ", ".join(sorted(install["id"] for install in chosen)) or "none"
    body = [["Towpath", *accepted(broken, lambda i: i["verdict"] in ACCEPTED, names),
             count(sound, ACCEPTED)]]
    for how, key in [("", "seed"), (", through `sh -c`", "seed_sh")]:
        for reading in READINGS:
            took = lambda i: i[key][reading] != "model"
            body.append([f"the design, {reading}{how}", *accepted(broken, took, names), sum(map(took, sound))])
    verdicts = ", ".join(f"{word} {count(broken, {word})}" for word in seen(broken) if count(broken, {word}))
    return "\n\n".join([
        rows(["check", f"accepted of {len(broken)} broken", "which", f"accepted of {len(sound)} sound"], body),
        f"Verdicts on the broken ones: {verdicts}."])


def accepted(installs, took, names):
    chosen = [install for install in installs if took(install)]
    return len(chosen), names(chosen)


def confusion_table(results):
    labelled = [program for program in results["programs"] if program.get("label")]
    body = []
    for label in LABELS:
        of_label = [program for program in labelled if program["label"] == label]
        body.append([label, len(of_label), *(count(of_label, {verdict}) for verdict in seen(labelled))])
    works = [program for program in labelled if program["label"] == "works"]
    good = count(works, ACCEPTED)
    return "\n\n".join([
        rows(["label", "programs", *seen(labelled)], body),
        f"{len(labelled)} programs were labelled by hand. Of the {len(works)} that work, {good} are judged to work: "
        f"**{share(good, len(works))}** (aim: 99 %). Not as labelled:",
        misjudged_table(labelled)])


def misjudged_table(labelled):
    wrong = [program for program in labelled if program["verdict"] not in RIGHT[program["label"]]]
    worst = lambda program: (program["label"] == "broken" and program["verdict"] in ACCEPTED, program["verdict"] == "broken")
    wrong.sort(key=lambda program: ([not bad for bad in worst(program)], LABELS.index(program["label"]), program["name"]))
    body = [[f"`{program['name']}`", program["label"], program["why"], program["verdict"],
             code((program.get("evidence") or {}).get("text"))] for program in wrong]
    return rows(["program", "label", "why", "verdict", "by"], body) if body else "None."


def document(results):
    parts = [f"Measured {machine(results)}"]
    if not results["labelled_only"]:
        parts += ["### Programs of the machine", verdict_table(results), "### The design's rules on the same runs", seed_table(results)]
    parts += ["### Broken installs", broken_table(results), "### Labelled programs", confusion_table(results)]
    return "\n\n".join(parts) + "\n"
