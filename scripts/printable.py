#!/usr/bin/env python3
"""Writes src-tauri/formats/data/nonprintable.txt: the code points that Python's repr() escapes, as ranges in hexadecimal.

Usage: scripts/printable.py, with Python 3.11 (Unicode 14.0).
"""
import pathlib
import sys
import unicodedata


def main():
    if unicodedata.unidata_version != "14.0.0":
        sys.exit("this needs Python 3.11, whose Unicode is 14.0")
    out = []
    for code in range(0x110000):
        if chr(code).isprintable():
            continue
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    text = " ".join(f"{first:x}" if first == last else f"{first:x}-{last:x}" for first, last in out)
    target = pathlib.Path(__file__).parent.parent / "src-tauri/formats/data/nonprintable.txt"
    target.write_text(text + "\n", encoding="ascii")
    print(len(out), "ranges")


main()
