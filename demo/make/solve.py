"""The right answer of each task, computed from the databases. `slip` names a mistake to make on the way: that is where the wrong
answers of the recorded runs come from, so that they are wrong for a reason."""
import re
from collections import Counter
from datetime import datetime, timedelta

TODAY = "2025-03-01"
PLANS = ["business", "team", "hobby"]
PRIORITY = {"urgent": 40, "high": 25, "normal": 10, "low": 0}
PLAN = {"business": 30, "team": 15, "hobby": 5, None: 0}
CODE = re.compile(r"prj-[0-9a-z]{6}")


class Facts:
    """Every row, with the two questions all tasks ask: which project is it about, and which plan is it on."""

    def __init__(self, databases):
        self.tickets = databases.all("SELECT * FROM support.tickets ORDER BY id")
        self.comments = databases.all("SELECT * FROM support.comments ORDER BY ticket_id, created_at")
        self.projects = databases.all("SELECT p.*, o.name AS owner FROM control_plane.projects p JOIN control_plane.owners o ON o.id = p.owner_id ORDER BY p.id")
        self.plans = databases.all("SELECT * FROM control_plane.plan_history ORDER BY project_id, since")
        self.invoices = databases.all("SELECT * FROM control_plane.invoices ORDER BY id")
        self.incidents = databases.all("SELECT * FROM control_plane.incidents ORDER BY id")

    def project_of(self, ticket, slip=None):
        """The first project named in the body, else in the comments."""
        texts = [ticket["body"]]
        if slip != "body_only":
            texts += [row["body"] for row in self.comments if row["ticket_id"] == ticket["id"]]
        hits = [hit for text in texts for hit in CODE.findall(text)]
        return hits[0] if hits else None

    def plan_of(self, project, day=TODAY, slip=None):
        rows = [row for row in self.plans if row["project_id"] == project and (slip == "planned" or row["since"] <= day)]
        return rows[0 if slip == "first_plan" else -1]["plan"] if rows else None


def open_by_plan(facts, status, slip=None):
    wanted = ("open", "pending") if slip == "with_pending" else (status,)
    tickets = [row for row in facts.tickets if row["status"] in wanted]
    counts = Counter(facts.plan_of(facts.project_of(row, slip), slip=slip) or "unknown" for row in tickets)
    return [{"plan": plan, "tickets": counts[plan]} for plan in sorted(counts)]


def resolution_times(facts, start, end, slip=None):
    times = {}
    for row in facts.tickets:
        if not row["resolved_at"] or not start <= row["created_at"] < end or (slip == "resolved_only" and row["status"] != "resolved"):
            continue
        spent = datetime.fromisoformat(row["resolved_at"]) - datetime.fromisoformat(row["created_at"])
        times.setdefault(row["category"], []).append(spent.total_seconds() / (86400 if slip == "days" else 3600))
    rows = [{"category": name, "tickets": len(spent), "mean_hours": round(sum(spent) / len(spent), 1)} for name, spent in times.items()]
    return sorted(rows, key=lambda row: row["category"] if slip == "by_name" else -row["mean_hours"])


def overdue_with_tickets(facts, levels, slip=None):
    due, waiting = {}, {}
    for row in facts.invoices:
        if not row["paid_at"] and row["due_at"] < TODAY:
            due.setdefault(row["project_id"], []).append(row)
    for row in facts.tickets:
        if row["priority"] in levels and (row["status"] in ("open", "pending") or slip == "any_status") and not (slip == "open_only" and row["status"] == "pending"):
            waiting.setdefault(facts.project_of(row, slip), []).append(row["id"])
    owners = {row["id"]: row["owner"] for row in facts.projects}
    rows = [{"project_id": code, "owner": owners[code], "overdue_eur": round(sum(row["amount_cents"] for row in rows) / (1 if slip == "cents" else 100), 2),
             "oldest_due": min(row["due_at"] for row in rows), "ticket_ids": waiting[code]}
            for code, rows in due.items() if code in waiting]
    return sorted(rows, key=lambda row: (-row["overdue_eur"], row["project_id"]))


def prioritised(facts, count, slip=None):
    newest = sorted((row for row in facts.tickets if row["status"] == "open"), key=lambda row: row["id"])[-count:]
    rows = []
    for row in newest:
        project = facts.project_of(row, slip)
        plan = facts.plan_of(project, slip=slip)
        age = (datetime.fromisoformat(TODAY) - datetime.fromisoformat(row["created_at"])).days
        last = [c["author"] for c in facts.comments if c["ticket_id"] == row["id"]]
        waits = 10 if last and last[-1] == "customer" and slip != "no_comments" else 0
        score = PRIORITY[row["priority"]] + PLAN[plan] + (age if slip == "whole_age" else 0.5 * min(age, 30)) + waits
        rows.append({"ticket_id": row["id"], "project_id": project, "plan": plan, "priority_score": score})
    return sorted(rows, key=lambda row: (-row["priority_score"], row["ticket_id"]))


def incident_impact(facts, number, slip=None):
    incident = facts.incidents[number - 1]
    start, end = incident["started_at"], datetime.fromisoformat(incident["ended_at"])
    end = str(end if slip == "no_grace" else end + timedelta(hours=24))
    exposed = {row["id"] for row in facts.projects if row["region"] == incident["region"] and row["created_at"] < start
               and (row["archived_at"] is None or row["archived_at"] > start)}
    hit = [row for row in facts.tickets if start <= row["created_at"] <= end
           and (slip == "all_regions" or facts.project_of(row, slip) in exposed)]
    plans = Counter(facts.plan_of(facts.project_of(row, slip), start[:10]) for row in hit)
    replies = []
    for row in hit:
        first = [c["created_at"] for c in facts.comments if c["ticket_id"] == row["id"] and c["author"] == "agent"]
        if first:
            replies.append((datetime.fromisoformat(first[0]) - datetime.fromisoformat(row["created_at"])).total_seconds() // 60)
    replies.sort()
    middle = len(replies) // 2
    median = replies[middle] if len(replies) % 2 else (replies[middle - 1] + replies[middle]) / 2
    return {"incident": number, "region": incident["region"], "component": incident["component"], "projects_exposed": len(exposed),
            "ticket_ids": [row["id"] for row in hit], "tickets_by_plan": {plan: plans[plan] for plan in PLANS if plans[plan]},
            "median_first_reply_minutes": int(median) if median == int(median) else median}


def churn_risk(facts, count, plans, slip=None):
    half_year, two_months = "2024-09-02", "2024-12-31"
    rows = []
    for project in facts.projects:
        code = project["id"]
        plan = facts.plan_of(code)
        if (project["archived_at"] and slip != "archived") or plan not in plans:
            continue
        steps = [row for row in facts.plans if row["project_id"] == code and row["since"] <= TODAY]
        down = sum(PLANS.index(new["plan"]) > PLANS.index(old["plan"]) for old, new in zip(steps, steps[1:])
                   if new["since"] >= half_year or slip == "all_time")
        overdue = sum(not row["paid_at"] and row["due_at"] < TODAY for row in facts.invoices if row["project_id"] == code)
        loud = sum(row["priority"] in ("high", "urgent") and row["created_at"] >= two_months and facts.project_of(row, slip) == code
                   for row in facts.tickets)
        risk = down + 2 * overdue + 3 * loud if slip == "swapped_weights" else 3 * down + 2 * overdue + loud
        rows.append({"project_id": code, "plan": plan, "risk": risk})
    rows.sort(key=lambda row: (-row["risk"], row["project_id"]))
    return [{"rank": rank, **row} for rank, row in enumerate(rows[:count], 1)]
