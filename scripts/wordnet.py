#!/usr/bin/env python3
"""Writes src-tauri/metrics/data/wordnet.bin: which single words of WordNet 3.0 share a meaning, and how inflected forms lead to them.

Usage: scripts/wordnet.py DIRECTORY
DIRECTORY holds data.* , index.* and *.exc, as Debian's package wordnet-base installs them in /usr/share/wordnet.

A meaning matters only when one of its names is a single word in lower case, for nothing else is ever compared with it.
Layout, all numbers little-endian: u32 number of words, then for noun, verb, adjective and adverb the u32 number of the first
meaning behind its own, then the words in the order of their bytes, each
  u8 bytes shared with the word before, u8 further bytes, those bytes,
  varint length of the rest of this record,
  u8: bits 0-3 the word alone names a meaning as noun, verb, adjective, adverb; bits 4-7 it has irregular bases as such,
  varint count of meanings shared with others, each as varint of twice the distance to the one before, plus 1 when the word is a
  name of it as it stands (and not only in capitals or of several words),
  for each of bits 4-7: varint count of bases, each the varint number of a word.
"""
import collections
import pathlib
import re
import struct
import sys

PARTS = ["noun", "verb", "adj", "adv"]
MARKER = re.compile(r"\((?:a|p|ip)\)$")


def meanings(root, part):
    """Names of each meaning, as they stand."""
    with open(root / f"data.{part}", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(" "):
                continue
            fields = line.split(" ")
            count = int(fields[3], 16)
            yield fields[0], [MARKER.sub("", fields[4 + 2 * n]) for n in range(count)]


def check_index(root, part, named):
    """The index must lead to the same meanings, since that is where a look-up begins."""
    listed = collections.defaultdict(set)
    with open(root / f"index.{part}", encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith(" "):
                fields = line.split()
                for offset in fields[-int(fields[2]):]:
                    listed[offset].add(fields[0])
    for offset, names in named:
        if {name.lower() for name in names} != listed[offset]:
            sys.exit(f"index.{part} and data.{part} differ at {offset}")


def is_single(name):
    return "_" not in name and name == name.lower()


def exceptions(root, part):
    with open(root / f"{part}.exc", encoding="utf-8") as lines:
        return {fields[0]: fields[1:] for fields in map(str.split, lines) if fields}


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def main():
    root = pathlib.Path(sys.argv[1])
    alone = collections.defaultdict(int)
    shared = []
    ends = []
    for at, part in enumerate(PARTS):
        named = list(meanings(root, part))
        check_index(root, part, named)
        here = []
        for _, names in named:
            members = {}
            for name in names:
                members[name.lower()] = members.get(name.lower(), False) or is_single(name)
            if not any(members.values()):
                continue
            if len(members) == 1:
                alone[next(iter(members))] |= 1 << at
            else:
                here.append(members)
        # Neighbours in the alphabet get neighbouring numbers, so that distances are short.
        here.sort(key=lambda members: min(word for word, single in members.items() if single))
        shared += here
        ends.append(len(shared))
    senses = collections.defaultdict(list)
    for number, members in enumerate(shared):
        for word, single in members.items():
            senses[word].append((number, single))
    irregular = [exceptions(root, part) for part in PARTS]
    known = set(alone) | set(senses)
    words = sorted(known | {word for table in irregular for word in table}, key=str.encode)
    numbers = {word: number for number, word in enumerate(words)}

    out = bytearray(struct.pack("<5I", len(words), *ends))
    before = b""
    for word in words:
        name = word.encode()
        same = 0
        while same < min(len(name), len(before)) and name[same] == before[same]:
            same += 1
        before = name
        head = alone[word] | sum(1 << 4 + at for at, table in enumerate(irregular) if word in table)
        rest = bytearray([head]) + varint(len(senses[word]))
        last = 0
        for number, single in sorted(senses[word]):
            rest += varint((number - last) * 2 + single)
            last = number
        for table in irregular:
            if word in table:
                bases = [numbers[base] for base in table[word] if base in known]
                rest += varint(len(bases)) + b"".join(map(varint, bases))
        out += bytes([same, len(name) - same]) + name[same:] + varint(len(rest)) + rest
    target = pathlib.Path(__file__).parent.parent / "src-tauri/metrics/data/wordnet.bin"
    target.write_bytes(out)
    print(f"{len(words)} words, {len(shared)} shared meanings, {len(out)} bytes")


main()
