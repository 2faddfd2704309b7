"""Which runs there are and how each of them ends. What happens in them is in the scripts. Nothing here says anything about a real
model: the outcomes were dealt out so that every kind is there."""
from .sql import C, S

OVERLOADED = "The provider answered 529 overloaded_error: Overloaded. Tried 3 times over 21 seconds, then stopped. Continue the run to try again."
RATE_LIMIT = "The provider answered 429 rate_limit_exceeded: limit of 200,000 tokens per minute reached. Tried 3 times over 64 seconds, then stopped. Continue the run later."
TIMEOUT = "No reply from the provider within 600 seconds. The connection was closed; nothing of the reply was received."
API_DOWN = {"status": 503, "body": {"detail": "The project's build is starting up, please retry in a few seconds."}}

PROGRAM_ONLY = """\
The rows are here. This program computes the mean hours for each category:

```python
from datetime import datetime
from statistics import mean

def hours(created, resolved):
    return (datetime.fromisoformat(resolved) - datetime.fromisoformat(created)).total_seconds() / 3600

by_category = {}
for row in rows:
    by_category.setdefault(row["category"], []).append(hours(row["created_at"], row["resolved_at"]))
for name, spent in sorted(by_category.items(), key=lambda item: -mean(item[1])):
    print(name, len(spent), round(mean(spent), 1))
```

Run it on the rows above; the slowest category is in the first line."""
QUESTION = """\
I found the incident, the exposed projects and the tickets of the window.

Before I give numbers I need to know one thing: should a comment that only asks for the project id count as a **reply**?

- if yes, the median is a little lower
- if no, I would leave those tickets out

Tell me which you prefer and I will write the result."""

# What is said when an agent stops before it has called every tool.
EARLY = {
    "open-tickets-by-plan": ["I found the open tickets and the project ids in them. The plan of each project is kept in the control plane, so once you look that up you can count them per plan."],
    "prioritise-open-tickets": [
        "Here are the newest open tickets with their priority and age. To finish, combine these with the plan weights: business 30, team 15, hobby 5.",
        "Understood. I would call query_control_plane_data with the project ids above and then compute the score for each ticket."],
    "overdue-and-waiting": ["These tickets are waiting. I do not have access to invoices, so I cannot say which of the projects owe money."],
    "churn-risk": ["The table above shows the loud tickets per project; a project with many of them is at risk. Add plan changes and overdue invoices to get the final ranking."],
}
P, T, Y = "promptql", "tool_calling", "tool_calling_python"
MODELS = ["claude", "o1", "o3-mini"]


def right(*features, **options):
    return ("right", features, options)


def partly(slip=None, *features, **options):
    return ("partly", features, {"slip": slip, **options})


def wrong(slip=None, *features, **options):
    return ("wrong", features, {"slip": slip, **options})


def none(text, *features, **options):
    return ("no answer", features, {"text": text, **options})


def error(after, text, lost):
    """`lost`: the seconds that went by before the provider was given up."""
    return ("error", (), {"stop_at": after, "text": text, "lost": lost})


def waiting(after):
    return ("waiting", (), {"stop_at": after, "nudges": 1})


def unfinished(at):
    return ("unfinished call", (), {"stop_at": at})


def nudged(after, outcome, nudges=1):
    kind, features, options = outcome
    return (kind, (*features, "nudged"), {"stop_at": after, "nudges": nudges, **options})


def missing(after, slip=None, **options):
    return ("wrong", ("missing tool call",), {"stop_at": after, "slip": slip, "guess": True, **options})


PYTHON = "execute_python_program"
# task: system: [claude, o1, o3-mini] for variation 0, first repeat
GRID = {
    "open-tickets-by-plan": {
        P: [right(), right("failed program"), partly("planned")],
        T: [right("failed SQL"), right("parallel calls"), nudged(S, right())],
        Y: [right(), right("parallel calls"), partly("body_only")]},
    "resolution-time-by-category": {
        P: [right(), right(), partly("by_name")],
        T: [right(), wrong("days"), right("failed SQL")],
        Y: [right("failed program"), right(), none(PROGRAM_ONLY, no_program=True)]},
    "overdue-and-waiting": {
        P: [right("failed program"), partly("open_only"), wrong("cents")],
        T: [right("parallel calls", trailing=True), missing(C), nudged(S, partly("open_only"))],
        Y: [right(), error(C, RATE_LIMIT, 64), right("failed program")]},
    "prioritise-open-tickets": {
        P: [right(), right("failed program"), partly("no_comments")],
        T: [partly(off=[("priority_score", -5, 3)]), partly(swap=(2, 4)), waiting(S)],
        Y: [right("failed SQL"), right(), nudged(S, right(), nudges=2)]},
    "incident-impact": {
        P: [right(), error(None, API_DOWN, 4), partly("no_grace", "failed program")],
        T: [right("unusual text", "parallel calls", remark="One ticket is in Arabic and one is partly in Japanese; both say the same as the English ones: `no builder available`."), none(QUESTION), missing(C)],
        Y: [right("parallel calls", "failed program"), unfinished(PYTHON), partly("all_regions")]},
    "churn-risk": {
        P: [right(), right(), none("Here is how I would do it. Shall I go ahead?", plan_only=True)],
        T: [partly(drop=[6]), wrong("swapped_weights"), error(S, OVERLOADED, 21)],
        Y: [right("failed SQL", "parallel calls"), right(), nudged(S, partly("all_time"))]},
}
# (task, system, model, variation, repeat, outcome)
MORE = [
    ("open-tickets-by-plan", P, "claude", 1, 1, right()),
    ("open-tickets-by-plan", T, "o3-mini", 1, 1, partly("first_plan")),
    ("open-tickets-by-plan", Y, "claude", 1, 1, right()),
    ("resolution-time-by-category", T, "claude", 1, 1, right()),
    ("overdue-and-waiting", P, "o1", 1, 1, right()),
    ("overdue-and-waiting", T, "claude", 1, 1, partly("open_only", "failed SQL")),
    ("prioritise-open-tickets", P, "claude", 0, 2, right()),
    ("prioritise-open-tickets", P, "claude", 0, 3, right("failed program")),
    ("prioritise-open-tickets", T, "claude", 0, 2, right()),
    ("prioritise-open-tickets", T, "claude", 0, 3, partly(drop=[9])),
    ("prioritise-open-tickets", Y, "o3-mini", 0, 2, partly("whole_age")),
    ("prioritise-open-tickets", Y, "o3-mini", 0, 3, error(S, TIMEOUT, 600)),
    ("prioritise-open-tickets", T, "o1", 1, 1, partly("planned", trailing=True)),
    ("churn-risk", T, "claude", 1, 1, right("long result")),
    ("churn-risk", Y, "o3-mini", 1, 1, waiting(S)),
    ("churn-risk", Y, "claude", 2, 1, ("no gold", (), {})),
]
