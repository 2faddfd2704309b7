#!/usr/bin/env python3
"""Writes src-tauri/metrics/data/punkt-*.txt: what the English model of the Punkt sentence splitter knows, as far as it decides anything.

Usage: scripts/punkt.py DIRECTORY
DIRECTORY holds abbrev_types.txt, sent_starters.txt, collocations.tab and ortho_context.tab: tokenizers/punkt_tab/english of NLTK's
data, which also lies in the wheel llama-index-core 0.14.25 (llama_index/core/_static/nltk_cache).

Every file is sorted by bytes, so that it can be searched as it lies in memory. Of the spelling of a word only this is kept:
  1 seen in lower case, and never in upper case inside a sentence
  2 seen in lower case, and in upper case inside a sentence
  4 (added) begins sentences in lower case, and was never seen in upper case
A word of which none of it is true decides as one that was never seen, and is left out.
"""
import pathlib
import sys

BEGINS_UPPER, INSIDE_UPPER, SOMEWHERE_UPPER, BEGINS_LOWER, INSIDE_LOWER, SOMEWHERE_LOWER = 2, 4, 8, 16, 32, 64
UPPER = BEGINS_UPPER | INSIDE_UPPER | SOMEWHERE_UPPER
LOWER = BEGINS_LOWER | INSIDE_LOWER | SOMEWHERE_LOWER


def spelling(flags):
    kind = 0
    if flags & LOWER:
        kind = 2 if flags & INSIDE_UPPER else 1
    if flags & BEGINS_LOWER and not flags & UPPER:
        kind += 4
    return kind


def main():
    root = pathlib.Path(sys.argv[1])
    target = pathlib.Path(__file__).parent.parent / "src-tauri/metrics/data"

    def read(name):
        lines = (root / name).read_text(encoding="utf-8").split("\n")
        return [line for line in lines if line and line.isascii()]

    def write(name, rows):
        rows = sorted(set(rows), key=lambda row: row[0].encode())
        (target / f"punkt-{name}.txt").write_text("".join(" ".join(row) + "\n" for row in rows), encoding="utf-8")
        print(f"{name}: {len(rows)}")

    write("abbreviations", [(word,) for word in read("abbrev_types.txt")])
    write("starters", [(word,) for word in read("sent_starters.txt")])
    write("collocations", [(row.replace("\t", " "),) for row in read("collocations.tab")])
    spellings = (row.split("\t") for row in read("ortho_context.tab"))
    kept = [(word, str(spelling(int(flags)))) for word, flags in spellings if spelling(int(flags))]
    write("spellings", kept)


main()
