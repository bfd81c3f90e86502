"""The checks as the original design writes them, to be compared with: a program passes with exit code 0;
else it is repaired if the output looks like help; else if --help or -h does.

Two readings of "looks like help": the decision (exit code 1 or 2, and `usage:`), and all four signs
(the tool's name and more than 200 bytes, too). Both are followed by the fallback commands.
"""

FALLBACKS = ["--help", "-h"]
READINGS = ["decision", "all four signs"]


def output(run):
    return run["stdout"] + run["stderr"]


def has_usage(run):
    return "usage:" in output(run).lower()


def is_repairable(run, tool, reading):
    decision = run["exit"] in (1, 2) and has_usage(run)
    return decision and (reading == "decision" or (tool in output(run) and len(output(run)) > 200))


def outcome(tool, run_of, reading):
    """`passes`, `repaired`, `fallback`, or `model` when all else fails. `run_of` gives the run with an
    argument; it is asked only for those that are needed."""
    first = run_of("--version")
    if first["exit"] == 0:
        return "passes"
    if is_repairable(first, tool, reading):
        return "repaired"
    # Exit code 127 is "not found" for the design, and a program that hangs would hang again.
    if first["exit"] in (127, "timeout"):
        return "model"
    for argument in FALLBACKS:
        run = run_of(argument)
        if run["exit"] == 0 and has_usage(run):
            return "fallback"
    return "model"


def outcomes(tool, run_of):
    return {reading: outcome(tool, run_of, reading) for reading in READINGS}
