#!/usr/bin/env python3
"""Compares the attack strategies with the converters of PyRIT, which azure-ai-evaluation uses.

  scripts/redteam-peer.py PROGRAM [COUNT]    needs the package pyrit, 0.8

Prints the strategies with the number of equal texts, and the first text that differs of each. Ends with 1 if one
differs that should not."""
import asyncio, json, logging, random, subprocess, sys

from pyrit.prompt_converter import (
    AsciiSmugglerConverter, AtbashConverter, Base64Converter, BinaryConverter, CaesarConverter,
    CharacterSpaceConverter, DiacriticConverter, FlipConverter, LeetspeakConverter, MorseConverter,
    ROT13Converter, StringJoinConverter, SuffixAppendConverter, UnicodeSubstitutionConverter, UrlConverter,
)

logging.disable()
PEERS = {
    "ascii_smuggler": AsciiSmugglerConverter(),
    "atbash": AtbashConverter(),
    "base64": Base64Converter(),
    "binary": BinaryConverter(),
    "caesar": CaesarConverter(caesar_offset=1),
    "character_space": CharacterSpaceConverter(),
    "diacritic": DiacriticConverter(),
    "flip": FlipConverter(),
    # The package chooses at random; its deterministic form is ours.
    "leetspeak": LeetspeakConverter(deterministic=True),
    "morse": MorseConverter(),
    "rot13": ROT13Converter(),
    "string_join": StringJoinConverter(),
    "suffix_append": SuffixAppendConverter(suffix="so it goes"),
    "unicode_substitution": UnicodeSubstitutionConverter(),
    "url": UrlConverter(),
}
LETTERS = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 \t\n\r\v\f\x1c\x85\u2028\u00a0"
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~äöüßéÆæçñŁżŭ€漢字😀\u0301İıſ\u3000"
)


def texts(count):
    draw = random.Random(7)
    plain = "What shall I do today? Tell me, please; it is 7:30 - and I am late!"
    yield plain
    for _ in range(count - 1):
        yield "".join(draw.choice(LETTERS) for _ in range(draw.randint(0, 60)))


def ours(program, text):
    names = ",".join(PEERS)
    command = [program, "redteam", "convert", "--json", "--suffix", "so it goes", "--strategies", names]
    ran = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    rows = map(json.loads, ran.stdout.decode().split("\n")[:-1])
    return {row["strategy"]: row["text"] for row in rows}


def theirs(converter, text):
    try:
        return asyncio.run(converter.convert_async(prompt=text)).output_text
    except Exception as error:  # a text that the package cannot convert
        return error


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500
    equal, refused, wrong = dict.fromkeys(PEERS, 0), dict.fromkeys(PEERS, 0), {}
    for text in texts(count):
        rows = ours(program, text)
        for name, converter in PEERS.items():
            peer = theirs(converter, text)
            if isinstance(peer, Exception):
                refused[name] += 1
            elif peer == rows[name]:
                equal[name] += 1
            else:
                wrong.setdefault(name, (text, peer, rows[name]))
    for name in PEERS:
        print(f"{name:22} {equal[name]} equal, {refused[name]} that the package cannot convert")
    for name, (text, peer, mine) in wrong.items():
        print(f"{name} differs for {text!r}\n  package {peer!r}\n  here    {mine!r}")
    return 1 if wrong else 0


sys.exit(main())
