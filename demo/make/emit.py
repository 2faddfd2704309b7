"""Writes YAML the way people read it: block style, `|` for text of several lines, quotes only where a reader needs them."""
import json
import re

PLAIN = re.compile(r"(?:\d+ (?=[a-z])|[A-Za-z_(/\u00a1-\u1fff\u2030-\ud7ff\U00010000-\U0010ffff])[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]*\Z")
RESERVED = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"}
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


def is_plain(text):
    return (PLAIN.match(text) and text.lower() not in RESERVED and ": " not in text and " #" not in text
            and not text.endswith((":", " ")))


def quoted(text):
    if not HIDDEN.search(text) and "\n" not in text:
        return "'" + text.replace("'", "''") + "'"
    # JSON strings are YAML strings, but for the characters that JSON leaves bare.
    bare = re.sub("[\x7f-\x9f\u2028\u2029\ufeff]", lambda hit: f"\\u{ord(hit[0]):04x}", json.dumps(text, ensure_ascii=False))
    return re.sub(r"\\u00([01][0-9a-f])", r"\\x\1", bare)


def block(text, pad):
    """A literal, or None when a literal cannot hold this text."""
    if "\n" not in text or HIDDEN.search(text) or re.search(r"[ ]+(\n|\Z)", text) or not text.strip("\n"):
        return None
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    chomp = "-" if ends == 0 else "" if ends == 1 else "+"
    hint = "2" if re.match(r"\n*[ ]", body) else ""
    lines = (body + "\n" * max(ends - 1, 0)).split("\n")
    return "|" + hint + chomp + "".join("\n" + (pad + line if line else "") for line in lines)


def scalar(value, pad):
    if isinstance(value, str):
        return block(value, pad) or (value if is_plain(value) else quoted(value))
    return json.dumps(value)


def flow(value):
    """On one line; for short things people write that way."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, str):
        return value if is_plain(value) and not re.search(r"[,\[\]{}]", value) else quoted(value)
    return json.dumps(value)


class Flow:
    """Marks a value that is written on one line."""

    def __init__(self, value):
        self.value = value


def node(value, pad):
    """What follows `key:` or `-`, with the space or line end before it."""
    if isinstance(value, Flow):
        return " " + flow(value.value)
    if isinstance(value, dict) and value:
        return "\n" + "\n".join(f"{pad}{key if is_plain(key) else quoted(key)}:{node(item, pad + '  ')}" for key, item in value.items())
    if isinstance(value, list) and value:
        return "\n" + "\n".join(f"{pad}-{item_node(item, pad + '  ')}" for item in value)
    if isinstance(value, (dict, list)):
        return " {}" if isinstance(value, dict) else " []"
    return " " + scalar(value, pad)


def item_node(value, pad):
    """The first key of a mapping stands on the line of its dash."""
    text = node(value, pad)
    return " " + text[1 + len(pad):] if isinstance(value, (dict, list)) and value else text


def document(value, comment=""):
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + node(value, "").lstrip("\n") + "\n"


def answer_text(value):
    """JSON as a model would write it: one row a line."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in value) + "\n]"
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"  {json.dumps(key)}: {json.dumps(item, ensure_ascii=False)}" for key, item in value.items()) + "\n}"
    return json.dumps(value, ensure_ascii=False, indent=2)
