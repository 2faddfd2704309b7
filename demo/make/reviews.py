"""What a made-up reviewer said of most runs that came to an end: mostly what is so, now and then too kind, too strict, or undecided, as
people are. A judge can be held against it."""
from .emit import document

BY = "demo reviewer (invented)"
COMMENT = "Sample data, invented for the demo; made by demo/make.py."
JUDGED = ("right", "partly", "wrong", "no answer", "no gold")
WORDS = {"right": "right", "partly": "partly", "wrong": "wrong", "no answer": "wrong", "no gold": None}

# Why a figure is off, as somebody says it who looked into the transcript.
WHY = {
    "planned": "Counts plan changes that were only announced.",
    "body_only": "Looks for the project id in the text alone; tickets that name it in a comment are missing.",
    "by_name": "In the order of the names. I asked for the slowest first.",
    "days": "These are days. I asked for hours.",
    "open_only": "Leaves out tickets that wait for us and are not called open.",
    "cents": "Amounts are in cents.",
    "no_comments": "The comments do not go into the score.",
    "no_grace": "Ignores the grace period after the incident.",
    "all_regions": "Takes in all regions, not the one of the incident.",
    "swapped_weights": "The weights of two signs are swapped.",
    "all_time": "Counts steps down of all time, not those of the last half year.",
    "first_plan": "Goes by the first plan of a project, not by the one it has now.",
    "whole_age": "Each day of age counts a whole point. I asked for half of one.",
}
# Where the reviewer sees it otherwise than the gold answer.
OTHERWISE = {
    "prioritise-open-tickets-tool_calling-o1-variation0.yaml": ("right", "Looks right to me."),
    "prioritise-open-tickets-tool_calling-claude-variation0-run3.yaml": ("right", None),
    "churn-risk-tool_calling-claude-variation0.yaml": ("right", "All the projects I would have named first are there."),
    "overdue-and-waiting-promptql-o1-variation0.yaml": ("wrong", "A project that owes money is missing, and a ticket of another. I cannot use it."),
    "incident-impact-tool_calling_python-o3-mini-variation0.yaml": ("wrong", "Other regions have nothing to do with it."),
    "overdue-and-waiting-tool_calling-claude-variation0.yaml": ("partly", "The list is right, but there is talk after it."),
    "incident-impact-tool_calling-o1-variation0.yaml": ("partly", "A fair question, but I wanted numbers."),
    "incident-impact-tool_calling-claude-variation0.yaml": ("partly", "I am not sure that the remark on languages belongs there."),
    "churn-risk-tool_calling_python-claude-variation2.yaml": (None, "I cannot tell: nobody wrote down what is expected here."),
    "resolution-time-by-category-promptql-o1-variation0.yaml": (None, "Looks plausible, but I did not count."),
}
MISSING = {"missing tool call": "It never looked at the tickets, so what it says of them is made up."}


def note(run):
    missing = [MISSING[feature] for feature in run.features if feature in MISSING]
    if run.outcome == "no answer":
        return "There is no answer."
    if missing:
        return missing[0]
    if run.options.get("off"):
        return "One score is off."
    if run.options.get("drop"):
        return "A row is missing."
    return WHY.get(run.slip)


def seen(run, at):
    """Nobody looks at everything: every sixth run that is right, and repeats of it, were left."""
    return run.outcome in JUDGED and not (run.outcome == "right" and (at % 6 == 5 or run.repeat > 1) and run.file_name not in OTHERWISE)


def files(runs):
    """The review of each run, by the name of its file."""
    made = {}
    for at, run in enumerate(runs):
        if not seen(run, at):
            continue
        verdict, why = OTHERWISE.get(run.file_name, (WORDS[run.outcome], note(run)))
        minutes = 9 * 60 + 3 * len(made)
        told = {"verdict": verdict, "note": why, "at": f"2025-03-04T{minutes // 60:02}:{minutes % 60:02}:00.000Z", "author": BY}
        made[run.file_name] = document({key: value for key, value in told.items() if value is not None}, COMMENT)
    return made
