"""Looks at what was made, through PyYAML and not through our own writer. Prints what is wrong, and how many runs of each kind there are."""
import json
import re
from collections import Counter

import yaml

from . import databases
from .solve import Facts
from .tasks import BY_NAME, TASKS, has_gold

NAME = re.compile(r"(?P<task>[a-z-]+)-(?P<system>promptql|tool_calling_python|tool_calling)-(?P<model>claude|o1|o3-mini)"
                  r"-variation(?P<variation>\d+)(-run(?P<repeat>[2-9]))?\.yaml\Z")
LIMITS = {"data": 400_000, ".": 1_500_000}


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def made(root):
    return sorted(path for path in root.rglob("*") if path.is_file() and path.suffix in (".yaml", ".json", ".jsonl", ".db", ".md")
                  and (".touchstone" not in path.parts or {"reviews", "judgements"} & set(path.parts)))


def same(fresh, kept):
    """0 when both folders hold the same; databases are compared by content, because SQLite writes its version into them."""
    problems = []
    mine, theirs = ({path.relative_to(root): path for path in made(root)} for root in (fresh, kept))
    for path in sorted(mine.keys() ^ theirs.keys()):
        problems.append(f"{path} is {'missing' if path in mine else 'not made by this program'}; run demo/make.py")
    for path in sorted(mine.keys() & theirs.keys()):
        read = databases.content if path.suffix == ".db" else lambda file: file.read_bytes()
        if read(mine[path]) != read(theirs[path]):
            problems.append(f"{path} differs from what is made; run demo/make.py")
    return report(problems)


def report(problems):
    for problem in problems:
        print("wrong:", problem)
    return 1 if problems else 0


def folder(root, recorded):
    problems = sizes(root) + suites(root)
    base = databases.Databases(root / "data")
    counts, found = results(root, Facts(base), recorded)
    base.close()
    if not problems + found:
        for title, count in counts.items():
            print(f"{title}: " + ", ".join(f"{name} {number}" for name, number in sorted(count.items(), key=lambda item: -item[1])))
    return report(problems + found)


def sizes(root):
    problems = []
    for name, limit in LIMITS.items():
        size = sum(path.stat().st_size for path in (root / name).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        print(f"{name}: {size:,} bytes")
        if size > limit:
            problems.append(f"{name} has {size:,} bytes, more than {limit:,}")
    return problems


def suites(root):
    """Every suite reads back as what was meant, gold included."""
    problems = []
    base = databases.Databases(root / "data")
    facts = Facts(base)
    base.close()
    for task in TASKS:
        suite = load(root / "tasks" / f"{task.name}.yaml")
        problems += [f"{task.name}: {key} is not what was meant" for key, text in task.texts.items() if suite[key] != text]
        for index, entry in enumerate(suite["variations"]):
            if entry.get("parameters", {key: entry.get(key) for key in task.variations[index]}) != task.variations[index]:
                problems.append(f"{task.name}: parameters of variation {index}")
            if gold_on_disk(root, entry) != (task.gold(facts, index) if has_gold(task, index) else None):
                problems.append(f"{task.name}: gold of variation {index}")
            for key in ("promptql_prompt", "tool_calling_prompt"):
                if re.search(r"\{[a-z_]+\}", task.prompt(key, index)):
                    problems.append(f"{task.name}: {key} has a parameter that variation {index} does not fill")
    return problems


def gold_on_disk(root, entry):
    if "ground_truth_path" in entry:
        return json.loads((root / "tasks" / entry["ground_truth_path"]).read_text(encoding="utf-8"))
    return entry.get("expected_output")


def overlap(answer, gold):
    """Whether a row (of a list) or a figure (of an object) is right."""
    if isinstance(gold, list):
        return any(row in gold for row in answer)
    return any(answer.get(key) == value for key, value in gold.items() if key not in ("incident", "region", "component"))


def results(root, facts, recorded):
    problems, counts = [], {"outcomes": Counter(), "features": Counter(), "systems": Counter(), "models": Counter()}
    planned = {run.file_name: run for run in recorded}
    for path in sorted((root / "results").glob("*.yaml")):
        parts, value = NAME.match(path.name), load(path)
        if not parts or path.name not in planned:
            problems.append(f"{path.name}: the name does not follow the rule, or it was not planned")
            continue
        run, gold = planned[path.name], BY_NAME[parts["task"]].gold(facts, int(parts["variation"]))
        if value != run.value():
            problems.append(f"{path.name}: PyYAML reads something else than was written")
        for fault in faults(run, value, gold):
            problems.append(f"{path.name}: {fault}")
        counts["outcomes"][run.outcome] += 1
        counts["features"].update(run.features)
        counts["systems"][parts["system"]] += 1
        counts["models"][parts["model"]] += 1
    if len(planned) != sum(counts["outcomes"].values()):
        problems.append("not every planned run is there")
    return counts, problems


def faults(run, value, gold):
    """Sentences on what a recorded run should be and is not."""
    answer, end = value.get("answer"), ending(value)
    if not value["run"].get("sample") or value["run"]["system"] != run.system or value["run"]["model"] != run.model:
        yield "`run:` does not say that it is a sample, or of what"
    if (answer == gold) != (run.outcome in ("right", "no gold")):
        yield f"planned as {run.outcome}, but the answer says otherwise"
    if run.outcome == "partly" and not overlap(answer, gold):
        yield "partly right shares nothing with the gold answer"
    if run.outcome in ("no answer", "error", "waiting", "unfinished call") and "answer" in value:
        yield "has an answer"
    if run.outcome == "wrong" and isinstance(answer, list) and overlap(answer, gold):
        yield "planned as wrong, but some of it is right"
    wanted = {"error": "error", "waiting": "user_message", "unfinished call": "tool_call"}.get(run.outcome, "assistant_message")
    if end and end != wanted:
        yield f"ends in {end}, not in {wanted}"
    if not end and ("error" in value) != (run.outcome == "error"):
        yield "error and outcome disagree"
    nudges = [text for text in said(value, "user_message")[1:]]
    if value["run"].get("nudges", 0) != len(nudges) or any(not text.startswith("actually use the ") for text in nudges):
        yield "nudges are not counted, or not worded as the rule says"
    if run.outcome in ("right", "partly", "wrong", "no gold") and end:
        fence = re.findall(r"```json\n(.*?)\n```", said(value, "assistant_message")[-1], re.S)
        if not fence or json.loads(re.sub(r",(\s*[\]}])", r"\1", fence[-1])) != answer:
            yield "the answer is not what the last fence says"


def said(value, kind):
    return [item[kind] for item in value.get("conversation", []) if kind in item]


def ending(value):
    return next(iter(value["conversation"][-1])) if "conversation" in value else None
