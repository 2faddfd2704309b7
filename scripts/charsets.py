#!/usr/bin/env python3
"""Writes src-tauri/metrics/data/charsets.txt: four sets of characters as ranges of code points.

Usage: scripts/charsets.py DIRECTORY
DIRECTORY holds Number.txt, Punctuation.txt and Symbol.txt: sacremoses/data/perluniprops of the wheel sacremoses 0.1.1, byte for byte
what NLTK's data has. `number` is what Number.txt holds: characters that are NOT numbers, and not all of those.
`word` is what Python 3.11 (Unicode 14) counts as part of a word in a regular expression.
"""
import pathlib
import re
import sys
import unicodedata


def ranges(codes):
    out = []
    for code in sorted(codes):
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return " ".join(f"{first:x}" if first == last else f"{first:x}-{last:x}" for first, last in out)


def main():
    if unicodedata.unidata_version != "14.0.0":
        sys.exit("this needs Python 3.11, whose Unicode is 14.0")
    root = pathlib.Path(sys.argv[1])
    lines = []
    for name in ["Number", "Punctuation", "Symbol"]:
        text = (root / f"{name}.txt").read_text(encoding="utf-8").strip()
        lines.append(f"{name.lower()} {ranges(set(map(ord, text)))}\n")
    word = re.compile(r"\w")
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000 and word.match(chr(code))]
    lines.append(f"word {ranges(codes)}\n")
    target = pathlib.Path(__file__).parent.parent / "src-tauri/metrics/data/charsets.txt"
    target.write_text("".join(lines), encoding="ascii")
    print(target.stat().st_size, "bytes")


main()
