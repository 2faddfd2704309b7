"""The README of the demo; its tables are counted, not written."""
from collections import Counter

from . import judgements, replies, reviews
from .tasks import TASKS

MEANING = {
    "right": "the answer equals the gold answer; of two only the order is another, which does not count",
    "partly": "a row is missing or a figure is off: for a reason you can find in the transcript",
    "wrong": "no row is right (the wrong unit, the wrong weights, a tool never called)",
    "no answer": "the run ended without one: a question back, a plan, a program nobody ran",
    "error": "the provider failed: overloaded, rate limit, timeout, API down",
    "waiting": "ends in a message to the agent; can be continued",
    "unfinished call": "ends in a tool call without result; can be continued",
    "no gold": "an answer to a variation that has no gold answer",
}
FEATURES = {
    "failed SQL": "a query with a wrong column or function, then a corrected one; the messages are SQLite's own",
    "failed program": "a Python program that stopped, then a corrected one",
    "parallel calls": "several tool calls in one turn (`turn:` tells them apart)",
    "nudged": "the agent stopped early and was told which tools to use",
    "missing tool call": "an expected tool was never called",
    "unusual text": "emoji, right-to-left text, terminal colours and HTML-like text in a tool's result",
    "long result": "a result of 300 rows",
}
TEXT = """\
# The demo

A small benchmark to look around in: six tasks for agents that answer questions about a help desk and a control plane, and {count}
recorded runs over three systems and three models.

**Everything here is sample data.** Halyard, its customers, projects, tickets and invoices are invented. The models named in
`results/` did not say what stands there: we wrote it, and dealt out right and wrong answers so that every kind is there. It says
nothing about any model or product; each file says so in its `run:` mapping (`sample: true`). Real are only the results of tools and
programs: every SQL query was run on the databases in `data/`, every Python program was run, and every gold answer is computed from the
data.

## What is here

| | |
|---|---|
| `touchstone.yaml` | the workspace file: folders, models (one of them replays), the two SQL tools |
| `tasks/` | the tasks, with prompts, variations and gold answers |
| `data/support.db` | users, tickets, comments |
| `data/control_plane.db` | owners, projects, plan history, invoices, incidents |
| `results/` | one file for each recorded run |
| `results/.touchstone/reviews/` | what an invented reviewer says of {reviewed} of them, so that judges can be held against somebody; not always what the gold answer says |
| `results/.touchstone/judgements/` | what an invented judge says of {judged} of them: how much of the gold answer each tells, and now and then it is mistaken |
| `help-desk.jsonl` | {rows} rows to evaluate: questions to a help desk, what its handbook says, what an invented assistant replied, and a good reply |
| `make.py`, `make/` | the program that makes all of the above, and this file |

## The tasks, easiest first

| Task | Asks for | Catch | Variations | Runs |
|---|---|---|--:|--:|
{tasks}

## The runs

| Ends | Runs | |
|---|--:|---|
{outcomes}

| On the way | Runs | |
|---|--:|---|
{features}

| | claude | o1 | o3-mini |
|---|--:|--:|--:|
{matrix}

Places to begin: `incident-impact-tool_calling-claude-variation0` (unusual text), `churn-risk-tool_calling-claude-variation1` (a long
result), `prioritise-open-tickets-tool_calling_python-o3-mini-variation0` (nudged twice), and the three repeats of
`prioritise-open-tickets-tool_calling-claude-variation0`.

## Run something

The model `replay` needs no key and costs nothing: it says again what `claude` says in the recorded runs, and the tools really run on
the databases. Its results are no measure of any model. From the start screen the demo opens as a copy of your own, so that whatever
you run or change stays out of this folder.

## Evaluate something

Evaluate, in the window, lists `help-desk.jsonl`. Its columns are named as evaluators call their inputs, so nothing has to be mapped;
`f1_score`, `rouge_score` and the other measures of texts ask no model.

## Make it again

    python3 demo/make.py           # writes everything anew; the same every time
    python3 demo/make.py --check   # changes nothing; fails when a file differs or a run is not what it should be

It needs Python 3.11 or newer, with PyYAML to read back what was written. The databases are the same in content every time; their bytes also depend on the
SQLite version, so they are compared by content.
"""


def outcome(run):
    """How a run counts: the order of rows does not."""
    return "right" if run.slip == "by_name" or "swap" in run.options else run.outcome


def text(recorded, facts):
    outcomes, features = Counter(outcome(run) for run in recorded), Counter(name for run in recorded for name in run.features)
    tasks = [f"| `{task.name}` | {task.level} | {task.note} | {len(task.variations)} | {sum(run.task is task for run in recorded)} |" for task in TASKS]
    cells = Counter((run.system, run.model) for run in recorded)
    matrix = ["| `" + system + "` | " + " | ".join(str(cells[system, model]) for model in ("claude", "o1", "o3-mini")) + " |"
              for system in ("promptql", "tool_calling", "tool_calling_python")]
    reviewed, judged = len(reviews.files(recorded)), len(judgements.files(recorded, facts))
    return TEXT.format(count=len(recorded), reviewed=reviewed, judged=judged, rows=len(replies.ROWS), tasks="\n".join(tasks), outcomes=rows(outcomes, MEANING), features=rows(features, FEATURES), matrix="\n".join(matrix))


def rows(counts, meaning):
    return "\n".join(f"| {name} | {counts[name]} | {about} |" for name, about in meaning.items())
