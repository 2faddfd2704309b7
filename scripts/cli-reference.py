#!/usr/bin/env python3
"""Writes docs/reference/cli.md from the help of a built program. Usage: scripts/cli-reference.py [PROGRAM] [--check]

With --check it writes nothing, and fails when the file is out of date.
"""
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "docs/reference/cli.md"
GROUPS = [
    ("Look", ["open", "index", "list", "labels", "show", "search", "compare", "diff"]),
    ("Run", ["plan", "run", "submit", "nudge", "fork", "suite", "generate"]),
    ("Score and judge", ["score", "stats", "failures", "trend", "gate", "review", "agreement", "metrics", "redteam"]),
    ("Evaluate and share", ["evaluate", "messages", "report", "segments", "convert", "serve"]),
    ("StableToolBench", ["stabletoolbench"]),
    ("Look after", ["formats", "schema", "doctor", "clear"]),
]
HEAD = """\
# Command line

This page is generated from the help of the program by `scripts/cli-reference.py`. Do not edit it.

`touchstone PATH` opens the window on a folder or a file, `touchstone --demo` on a copy of the sample data. Every command has
`--help`. Options that most commands share:

- `FOLDER` defaults to the current folder.
- `--input-dir` and `--output-dir` replace the directories of tasks and transcripts that the folder implies.
- `--filter` takes the same expressions as the window: [filters](filters.md).
- `--json` prints one JSON document, or one JSON object per line.

[Exit codes](exit-codes.md).
"""


def help_of(program, *words):
    """Returns the help of a command, split into its about line, usage, and sections by name."""
    text = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout
    about, rest = text.split("\n\nUsage: ", 1)
    usage, *sections = rest.split("\n\n")
    named, tail = {}, []
    for section in sections:
        name, _, body = section.partition("\n")
        if name.endswith(":") and body.startswith("  "):
            named[name[:-1]] = body
        else:
            tail.append(section.strip("\n"))
    return about.strip(), [line.strip() for line in usage.splitlines()], named, tail


def entries(body):
    """Returns the entries of a section as pairs of what is typed and what it means."""
    found = []
    for line in body.splitlines():
        new = re.match(r"^ {2,6}(?=[-<\[a-z])(\S.*?)(?: {2,}(.*))?$", line)
        if new and not line.startswith(" " * 7):
            found.append([new[1], new[2] or ""])
        elif found:
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
    return found


def table(kind, body):
    rows = [(f"`{typed}`", says) for typed, says in entries(body) if "--help" not in typed]
    if not rows:
        return []
    escaped = [(typed, says.replace("|", "\\|")) for typed, says in rows]
    return [f"| {kind} | meaning |", "|---|---|", *(f"| {typed} | {says} |" for typed, says in escaped), ""]


def chapter(program, level, *words):
    about, usage, named, tail = help_of(program, *words)
    lines = [f"{'#' * level} touchstone {' '.join(words)}", "", f"{about}.", "", "```text", *usage, "```", ""]
    lines += table("argument", named.get("Arguments", ""))
    lines += table("option", named.get("Options", ""))
    for text in tail:
        lines += [textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False), ""]
    for name, _ in entries(named.get("Commands", "")):
        if name != "help":
            lines += chapter(program, level + 1, *words, name)
    return lines


def page(program):
    known = [name for name, _ in entries(help_of(program)[2]["Commands"]) if name != "help"]
    placed = [name for _, names in GROUPS for name in names]
    if sorted(known) != sorted(placed):
        sys.exit(f"GROUPS of {__file__} does not place {sorted(set(known) ^ set(placed))}.")
    lines = [HEAD, "| group | commands |", "|---|---|"]
    for group, names in GROUPS:
        lines.append(f"| {group} | {', '.join(f'[`{name}`](#touchstone-{name})' for name in names)} |")
    lines.append("")
    for _, names in GROUPS:
        for name in names:
            lines += chapter(program, 2, name)
    return "\n".join(lines).rstrip("\n") + "\n"


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    said = page(words[0] if words else str(ROOT / "target/debug/touchstone"))
    if "--check" not in sys.argv:
        FILE.write_text(said)
    elif FILE.read_text() != said:
        sys.exit("docs/reference/cli.md is out of date. Run scripts/cli-reference.py.")


main()
