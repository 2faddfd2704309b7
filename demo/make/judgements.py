"""What a made-up judge said of the runs that were reviewed, so that Trust can hold a judge against people without any key. It rates like
the judge `response_completeness`: how much of the gold answer the answer tells. Now and then it is mistaken, as judges are.

`judged.tsv` has the checksum of what the judge was shown, by run, as Touchstone itself wrote it when it judged these runs with a model
that was a program on this machine. They change with the prompt of the judge, the tasks and the answers; a test of the engine notices."""
from pathlib import Path

from . import reviews
from .emit import document
from .tasks import has_gold

JUDGE, VERSION, MODEL = "response_completeness", 2, "invented-judge"
COMMENT = "Sample data, invented for the demo; made by demo/make.py. No model said this."
INPUTS = dict(line.split("\t") for line in (Path(__file__).parent / "judged.tsv").read_text(encoding="utf-8").splitlines())
# Where it is mistaken: it is impressed by a tidy table, or misses that an order or a unit does not count for much.
MISTAKEN = {
    "churn-risk-tool_calling-claude-variation0.yaml": (5, "The ranking is there and tidy."),
    "prioritise-open-tickets-tool_calling-o1-variation1.yaml": (5, "All tickets are listed with their scores."),
    "resolution-time-by-category-tool_calling-o1-variation0.yaml": (3, "The categories and counts are right, the means are another unit."),
    "open-tickets-by-plan-tool_calling_python-o1-variation0.yaml": (3, "The plans are there, but I cannot follow the counts."),
}


def told(answer, gold):
    """How many statements of the gold answer the answer tells, of how many."""
    if isinstance(gold, list):
        return sum(row in (answer or []) for row in gold), len(gold)
    return sum((answer or {}).get(key) == value for key, value in gold.items()), len(gold)


def rating(run, gold):
    if run.file_name in MISTAKEN:
        return MISTAKEN[run.file_name]
    answer = run.value().get("answer")
    if answer is None:
        return 1, "There is no answer to compare."
    right, all_of_them = told(answer, gold)
    share = right / all_of_them
    score = 5 if share == 1 else 4 if share >= 0.85 else 3 if share >= 0.7 else 2 if share > 0 else 1
    return score, f"{right} of the {all_of_them} {'rows' if isinstance(gold, list) else 'fields'} are right."


def files(runs, facts):
    """The judgement of each reviewed run, by the name of its file."""
    made = {}
    for at, run in enumerate(runs):
        if run.file_name not in INPUTS or not reviews.seen(run, at) or not has_gold(run.task, run.variation):
            continue
        score, reason = rating(run, run.task.gold(facts, run.variation))
        reply = f"<S0>I compare each statement of the ground truth with the response.</S0>\n<S1>{reason}</S1>\n<S2>{score}</S2>"
        minute = len(made)
        once = {"verdict": str(score), "score": (score - 1) / 4, "reason": reason, "model_id": MODEL,
                "at": f"2025-03-06T{9 + minute // 60:02}:{minute % 60:02}:00.000Z", "replies": [reply]}
        said = {"judge": JUDGE, "version": VERSION, "model": MODEL, "rules": "ours", "inputs": INPUTS[run.file_name], "wanted": 1, "rounds": [once]}
        made[run.file_name + ".yaml"] = document({"judgements": [said]}, COMMENT)
    return made
