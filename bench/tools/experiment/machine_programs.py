"""Which programs of this machine the experiment is about, and the tables beside it."""
import csv, os

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIRECTORIES = ["/usr/bin", "/usr/sbin"]


def table(path):
    """The rows of a file with tabs and a first line of names."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def excluded():
    return {row["name"] for row in table(os.path.join(HERE, "excluded.tsv"))}


def labels():
    return {row["name"]: row for row in table(os.path.join(HERE, "labels.tsv"))}


def programs():
    """Every executable by its path, without those of excluded.tsv. A link is a program of its own."""
    found, left_out = [], excluded()
    for directory in DIRECTORIES:
        for name in sorted(os.listdir(directory)):
            path = os.path.join(directory, name)
            if name not in left_out and not os.path.isdir(path):
                found.append(path)
    return found
