#!/usr/bin/env python3
"""Computes what `kendall_tau` has to say, with scipy, and writes it down for the tests.

  python3 scripts/order-oracle.py lists                 # lists made up here
  python3 scripts/order-oracle.py runs FOLDER           # runs of a benchmark folder (queries/ and results/)

Each prints one JSON object a line; the outputs are src-tauri/scoring/tests/scorers/{lists,runs}.jsonl. It needs scipy 1.17 and is
never part of a build or a test.
"""

import json
import math
import random
import sys
from pathlib import Path

from scipy.stats import kendalltau

COST = 0.2


def agreement(expected, answer):
    """max(0, tau-b), less 0.2 for each item that is only in one of the two, within 0..1; above 0.999 is 1."""
    there, here = set(expected), set(answer)
    # The last place of an item counts.
    place_there = {item: place for place, item in enumerate(expected)}
    place_here = {item: place for place, item in enumerate(answer)}
    both = sorted(there & here, key=place_there.get)
    tau = math.nan
    if len(both) > 1:
        tau = kendalltau([place_there[item] for item in both], [place_here[item] for item in both]).statistic
    # One thing, or nothing, has no order.
    order = (1.0 if there == here else 0.0) if math.isnan(tau) else max(0.0, tau)
    score = order - len(there - here) * COST - len(here - there) * COST
    score = min(1.0, max(0.0, score))
    return (1.0 if score > 0.999 else score), (None if math.isnan(tau) else float(tau))


def lists():
    chance = random.Random(20)
    for _ in range(120):
        expected = chance.sample(range(100, 200), chance.choice([0, 1, 2, 3, 5, 10, 10, 20, 70]))
        answer = list(expected)
        for _ in range(chance.choice([0, 0, 1, 2, 3, 8])):
            if len(answer) > 1:
                a, b = chance.sample(range(len(answer)), 2)
                answer[a], answer[b] = answer[b], answer[a]
        for _ in range(chance.choice([0, 0, 0, 1, 2])):
            if answer:
                answer.pop(chance.randrange(len(answer)))
        for _ in range(chance.choice([0, 0, 0, 1, 2])):
            answer.insert(chance.randint(0, len(answer)), chance.randrange(200, 300))
        if answer and chance.random() < 0.15:
            answer.insert(chance.randint(0, len(answer)), chance.choice(answer))
        if len(answer) > 4 and chance.random() < 0.15:
            answer.reverse()
        yield {"expected": expected, "answer": answer}


def runs(folder):
    for file in sorted((folder / "results").rglob("*.result")):
        task = file.relative_to(folder / "results").parts[0]
        variation = file.stem.rsplit("_run_", 1)[0]
        truth = json.loads((folder / "queries" / task / f"ground_truth_{variation}.json").read_text())
        text = file.read_text().strip()
        answer = json.loads(text) if text else None
        names = lambda rows: [next(iter(row.values())) for row in rows]
        row = {"run": str(file.relative_to(folder / "results").with_suffix("")), "answered": isinstance(answer, list)}
        yield row | {"expected": names(truth), "answer": names(answer) if row["answered"] else []}


def main():
    rows = lists() if sys.argv[1] == "lists" else runs(Path(sys.argv[2]))
    for row in rows:
        score, tau = agreement(row["expected"], row["answer"]) if row.get("answered", True) else (0.0, None)
        if "run" in row:
            row = {"run": row["run"]}
        print(json.dumps(row | {"score": score, "tau": tau}))


main()
