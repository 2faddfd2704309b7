"""How the made-up agents write: one at length with headings and tables, one in few words, one in bullets."""
from .emit import answer_text


def cell(value):
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return "–" if value is None else str(value)


def table(answer, limit=12):
    """A markdown table of the answer."""
    if isinstance(answer, dict):
        return "\n".join(["| what | value |", "|---|---|"] + [f"| {key.replace('_', ' ')} | {cell(value)} |" for key, value in answer.items()])
    keys = list(answer[0])
    lines = ["| " + " | ".join(key.replace("_", " ") for key in keys) + " |", "|" + "|".join("---:" if is_number(answer, key) else "---" for key in keys) + "|"]
    lines += ["| " + " | ".join(cell(row[key]) for key in keys) + " |" for row in answer[:limit]]
    return "\n".join(lines + ([f"\n… and {len(answer) - limit} more." ] if len(answer) > limit else []))


def is_number(rows, key):
    return all(isinstance(row[key], (int, float)) for row in rows)


def fence(answer, trailing=False):
    text = answer_text(answer)
    if trailing:  # the prompt's own example has a trailing comma, and models copy it
        text = text.replace("\n]", ",\n]") if text.endswith("\n]") else text.replace("\n}", ",\n}")
    return f"```json\n{text}\n```"


def closing(recorder, title, answer, notes, trailing=False):
    """The last message of a tool-calling run."""
    pick, end = recorder.pick, fence(answer, trailing)
    notes = list(notes)
    recorder.rng.shuffle(notes)
    if recorder.run.model == "claude":
        checks = "\n".join(f"{number}. {note}" for number, note in enumerate(notes, 1))
        return pick(
            f"I have everything I need now.\n\n## {title}\n\n{table(answer)}\n\n### How I got there\n\n{checks}\n\n{end}",
            f"<thinking>\n{' '.join(notes)} That covers every rule of the question, so I can write the result down.\n</thinking>\n\n"
            f"### {title}\n\n{end}\n\n**In short:** {notes[0][0].lower()}{notes[0][1:]}",
            f"## {title}\n\n{table(answer)}\n\nThe same as JSON:\n\n{end}\n\n> {notes[0]}\n\nLet me know if you would like this "
            f"per *region* or per *week* as well.",
            f"That is all the data. Result:\n\n{end}\n\n**Checks I made**\n\n" + "\n".join(f"- [x] {note}" for note in notes) + "\n\n---\n"
            f"*{title}; as of 1 March 2025.*",
            f"{notes[0]} {notes[-1]}\n\n{table(answer, 5)}\n\n{end}",
        )
    if recorder.run.model == "o1":
        return pick(f"{title}:\n\n{end}", f"{end}", f"{notes[0]}\n\n{end}", f"Here is the requested result.\n\n{end}")
    bullets = "\n".join(f"- {note}" for note in notes[:2])
    return pick(f"**{title}**\n\n{bullets}\n\n{end}", f"Below is the final answer:\n\n{end}\n\n{bullets}", f"{bullets}\n\nFinal JSON:\n\n{end}")


def done(recorder, title, answer, notes):
    """The last message of a PromptQL run."""
    pick = recorder.pick
    size = f"{len(answer)} rows" if isinstance(answer, list) else f"{len(answer)} figures"
    return pick(
        f"The artifact **{title}** is ready ({size}). {notes[0]}",
        f"Done. {notes[-1]}\n\n{table(answer, 5)}",
        f"I stored the result as `{recorder.run.task.artifact}`.\n\n- {notes[0]}\n- {notes[-1]}",
    )
