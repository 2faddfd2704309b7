"""The six suites: prompts, parameters and gold answers. The gold comes from `solve`, never from a hand."""
from . import solve
from .emit import Flow

BOTH = ["query_support_tickets", "query_control_plane_data"]
PROJECT_RULE = """\
A ticket is about the first project id (`prj-` and six characters) named in its body or, when the body names none, in its comments,
oldest first."""
PLAN_RULE = "The plan of a project is the latest row of `plan_history` that has begun by 2025-03-01. Later rows are only planned."

OPEN_BY_PLAN = f"""\
How many tickets with status `{{status}}` are there for each plan?

{PROJECT_RULE}
{PLAN_RULE}
Count tickets that name no project under the plan `unknown`. Sort by name of plan."""

RESOLUTION = """\
How long did it take to resolve tickets, by category?

Take all tickets created from {start} up to, not including, {end} that have a `resolved_at`. For each category give how many there
are and the mean hours from creation to resolution, rounded to one decimal. Slowest category first."""

OVERDUE = f"""\
Today is 2025-03-01. Which projects owe us money and wait for us at the same time?

A project owes money when it has an unpaid invoice that was due before today. It waits when a ticket with priority {{levels}} and
status `open` or `pending` is about it. For each such project give its owner's name, the sum of its overdue
invoices in EUR, the oldest due date, and the ids of those tickets in ascending order. Largest sum first.

{PROJECT_RULE}"""

PRIORITISE = f"""\
Today is 2025-03-01. Rank the {{count}} newest open tickets (highest ids) by how soon we should answer.

{PROJECT_RULE}
{PLAN_RULE}
The score is the sum of
- priority: urgent 40, high 25, normal 10, low 0
- plan: business 30, team 15, hobby 5, no project 0
- half a point for each full day since the ticket was created, for at most 30 days
- 10 when the last comment is from the customer

Highest score first, lower ticket id first where scores are equal."""

IMPACT = f"""\
What did incident {{incident}} do to our customers?

A project was exposed when it is in the region of the incident, had been created before it started and was not archived by then.
Take all tickets about exposed projects created between the start of the incident and 24 hours after its end.
Give the number of exposed projects, the ids of the tickets in ascending order, how many of them came from each plan (as it was on the
day the incident started; leave out plans without tickets), and the median minutes until the first comment of an agent, over the
tickets that have one.

{PROJECT_RULE}"""

CHURN = f"""\
Today is 2025-03-01. Which {{count}} projects on the plans {{plans}} are we most likely to lose?

Leave out archived projects.
The risk of a project is
- 3 for each step down to a smaller plan (business > team > hobby) since 2024-09-02
- 2 for each unpaid invoice that was due before today
- 1 for each ticket with priority high or urgent about it, created since 2024-12-31

Highest risk first; where it is equal, by project id.

{PROJECT_RULE}
{PLAN_RULE}"""


def prompts(question, artifact, tools, shape):
    first, *rest = tools
    order = f"First query the {first} tool" + "".join(f", then the {tool} tool" for tool in rest) + "."
    return {
        "promptql_prompt": f"{question}\n\nStore the result as an artifact with the identifier `{artifact}`.\n",
        "tool_calling_prompt": f"{question}\n\n{order} Put your result in this format:\n```json\n{shape}\n```\n",
        "expected_tool_calls": list(tools),
        "expected_promptql_artifact": artifact,
    }


class Task:
    """A suite file, what it means, and how its answers are computed."""

    def __init__(self, name, level, question, artifact, shape, variations, answer, tools=BOTH, note="", **extra):
        self.name, self.level, self.artifact, self.tools, self.note, self.extra = name, level, artifact, tools, note, extra
        self.texts = prompts(question, artifact, tools, shape)
        self.variations, self.answer = variations, answer

    def gold(self, facts, variation, slip=None):
        return self.answer(facts, self.variations[variation], slip)

    def prompt(self, key, variation):
        """Only known parameters are replaced; every other brace stays (the prompts hold JSON)."""
        text = self.texts[key]
        for name, value in self.variations[variation].items():
            text = text.replace("{" + name + "}", str(value))
        return text


def split(text):
    return text.replace(" or ", " ").replace(" and ", " ").split()


TASKS = [
    Task("open-tickets-by-plan", "one join", OPEN_BY_PLAN, "open_tickets_by_plan",
         '[{ "plan": "team", "tickets": 12, }]',
         [{"status": "open"}, {"status": "pending"}],
         lambda facts, p, slip: solve.open_by_plan(facts, p["status"], slip),
         note="Some tickets name their project only in a comment; some plans lie in the future."),
    Task("resolution-time-by-category", "one database, one aggregate", RESOLUTION, "resolution_times",
         '[{ "category": "builds", "tickets": 12, "mean_hours": 71.5, }]',
         [{"start": "2024-10-01", "end": "2025-01-01"}, {"start": "2025-01-01", "end": "2025-03-01"}],
         lambda facts, p, slip: solve.resolution_times(facts, p["start"], p["end"], slip),
         tools=BOTH[:1], note="`resolved` and `closed` both count.", tags=["easy", "time"]),
    Task("overdue-and-waiting", "a join across both databases", OVERDUE, "overdue_and_waiting",
         '[{ "project_id": "prj-000000", "owner": "Jo Doe", "overdue_eur": 99.5, "oldest_due": "2025-01-15", "ticket_ids": [1, 2], }]',
         [{"levels": "urgent"}, {"levels": "urgent or high"}],
         lambda facts, p, slip: solve.overdue_with_tickets(facts, split(p["levels"]), slip),
         note="Pending tickets wait too; due dates are compared with a fixed day.", tags=["money", "join"]),
    Task("prioritise-open-tickets", "a score over both databases", PRIORITISE, "prioritised_tickets",
         '[{ "ticket_id": 1234, "project_id": "prj-000000", "plan": "team", "priority_score": 57.5, }]',
         [{"count": 10}, {"count": 20}, {"count": 30}],
         lambda facts, p, slip: solve.prioritised(facts, p["count"], slip),
         note="A rule of four parts; order counts.", tags=["ranking", "join"], repeat=3,
         scorers=[{"fields": {"key": "ticket_id"}}, "kendall_tau", "tool_calls"]),
    Task("incident-impact", "several steps, one nested answer", IMPACT, "incident_impact",
         '{ "incident": 1, "region": "fra", "component": "router", "projects_exposed": 10, "ticket_ids": [1, 2],\n'
         '  "tickets_by_plan": { "team": 2 }, "median_first_reply_minutes": 45, }',
         [{"incident": 4}, {"incident": 5}, {"incident": 6}],
         lambda facts, p, slip: solve.incident_impact(facts, p["incident"], slip),
         tools=BOTH[::-1], note="Times, regions and plans of the past; three tickets with unusual text.", tags=["time", "join"]),
    Task("churn-risk", "history of plans, money and tickets together", CHURN, "churn_risk",
         '[{ "rank": 1, "project_id": "prj-000000", "plan": "team", "risk": 7, }]',
         [{"count": 10, "plans": "team and business"}, {"count": 5, "plans": "business"}, {"count": 8, "plans": "hobby"}],
         lambda facts, p, slip: solve.churn_risk(facts, p["count"], split(p["plans"]), slip),
         note="The last variation has no gold answer on purpose.", tags=["ranking", "money"]),
]
BY_NAME = {task.name: task for task in TASKS}
NAMES = {
    "prioritise-open-tickets": ["the newest ten", "the newest twenty", "the newest thirty"],
    "churn-risk": ["paying customers", "business only", "free plan, no gold"],
}


def has_gold(task, variation):
    return not (task.name == "churn-risk" and variation == 2)


def suite(task, facts):
    """The file of a task: (text as a value, extra files by path)."""
    entries, files = [], {}
    for index, parameters in enumerate(task.variations):
        gold = task.gold(facts, index)
        if task.name == "open-tickets-by-plan":  # short form: the parameters stand bare
            entries.append({**parameters, "expected_output": rows(gold)})
        elif task.name == "resolution-time-by-category":
            path = f"ground-truth/{task.name}-{index}.json"
            files[path] = gold
            entries.append({"parameters": Flow(parameters), "ground_truth_path": path})
        else:
            named = {"name": NAMES[task.name][index]} if task.name in NAMES else {}
            wanted = {"expected_output": rows(gold)} if has_gold(task, index) else {}
            entries.append({**named, "parameters": Flow(parameters), **wanted})
    extra = {key: value if key == "scorers" else Flow(value) for key, value in task.extra.items()}
    if "scorers" in extra:
        extra["scorers"] = [Flow(item) for item in extra["scorers"]]
    return {**task.texts, **extra, "variations": entries}, files


def rows(gold):
    return [Flow(row) for row in gold] if isinstance(gold, list) else gold
