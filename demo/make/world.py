"""Makes the rows of the two databases from one seed. Knows nothing of files."""
import re
from datetime import datetime, timedelta
from random import Random

from . import words

TODAY = datetime(2025, 3, 1)
CATEGORIES = list(words.TICKETS)
PRICES = {"hobby": 0, "team": 4900, "business": 24900}
WEIGHTS = [("low", 2), ("normal", 6), ("high", 3), ("urgent", 2)]
# (region, component, severity, start, hours)
INCIDENTS = [
    ("iad", "router", "major", "2024-09-12 13:05", 2.5),
    ("sin", "storage", "critical", "2024-10-21 03:40", 6.0),
    ("gru", "builder", "minor", "2024-11-30 17:15", 1.0),
    ("fra", "builder", "major", "2025-01-14 09:38", 5.25),
    ("iad", "storage", "critical", "2025-02-03 21:10", 7.5),
    ("sin", "router", "major", "2025-02-18 06:20", 3.0),
    ("fra", "dashboard", "minor", "2025-02-24 10:00", 1.5),
]


def stamp(moment):
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def day(moment):
    return moment.strftime("%Y-%m-%d")


def weighted(rng, pairs):
    return rng.choice([value for value, weight in pairs for _ in range(weight)])


class World:
    """All rows, table by table, in the order in which they are inserted."""

    def __init__(self, seed):
        self.rng = Random(seed)
        self.tables = {name: [] for name in (
            "users", "tickets", "comments", "owners", "projects", "plan_history", "invoices", "incidents")}
        self.people()
        self.projects()
        self.money()
        self.incidents()
        self.tickets()
        self.number_tickets()

    def add(self, table, **row):
        self.tables[table].append(row)
        return row

    def people(self):
        rng = self.rng
        names = [f"{first} {last}" for first in words.FIRST for last in words.LAST]
        rng.shuffle(names)
        for number in range(1, 49):
            name = names.pop()
            self.add("owners", id=number, name=name, company=rng.choice(words.COMPANIES), country=rng.choice(words.COUNTRIES))
        for number in range(1, 65):
            name = names.pop()
            mail = re.sub(r"[^a-z.]", "", name.lower().replace(" ", "."))
            joined = TODAY - timedelta(days=rng.randrange(60, 900))
            self.add("users", id=number, name=name, email=f"{mail}@example.com", joined_at=day(joined))

    def projects(self):
        rng = self.rng
        names = [f"{a}-{b}" for a in words.PROJECT_A for b in words.PROJECT_B]
        rng.shuffle(names)
        for _ in range(72):
            code = "prj-" + "".join(rng.choice("23456789abcdefghjkmnpqrstvwxyz") for _ in range(6))
            created = TODAY - timedelta(days=rng.randrange(70, 800), minutes=rng.randrange(1440))
            archived = TODAY - timedelta(days=rng.randrange(3, 40)) if rng.random() < 0.06 else None
            self.add("projects", id=code, name=names.pop(), owner_id=rng.randrange(1, 49), region=rng.choice(words.REGIONS),
                     created_at=stamp(created), archived_at=archived and stamp(archived))
            self.plans(code, created)

    def plans(self, code, created):
        """A plan at the start, some changes after it, and now and then one that is only planned (in the future)."""
        rng = self.rng
        plan, since = weighted(rng, [("hobby", 5), ("team", 4), ("business", 2)]), created
        self.add("plan_history", project_id=code, plan=plan, since=day(since))
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            room = (TODAY - since).days
            if room < 40:
                break
            since += timedelta(days=rng.randrange(20, room))
            plan = rng.choice([other for other in PRICES if other != plan])
            self.add("plan_history", project_id=code, plan=plan, since=day(since))
        if rng.random() < 0.2:
            planned = rng.choice([other for other in PRICES if other != plan])
            self.add("plan_history", project_id=code, plan=planned, since=day(TODAY + timedelta(days=rng.randrange(5, 40))))

    def plan_at(self, code, moment):
        rows = [row for row in self.tables["plan_history"] if row["project_id"] == code and row["since"] <= day(moment)]
        return max(rows, key=lambda row: row["since"])["plan"] if rows else None

    def money(self):
        rng, number = self.rng, 5000
        for project in self.tables["projects"]:
            late_payer = rng.random() < 0.42
            for year, month in [(2024, m) for m in range(7, 13)] + [(2025, 1), (2025, 2)]:
                issued = datetime(year, month, 1)
                plan = self.plan_at(project["id"], issued)
                if not plan or not PRICES[plan]:
                    continue
                due, number = issued + timedelta(days=14), number + 1
                paid = issued + timedelta(days=rng.randrange(1, 14))
                if late_payer and rng.random() < 0.55:
                    paid = None if (year, month) >= (2024, 12) else due + timedelta(days=rng.randrange(3, 40))
                usage = rng.randrange(0, 6000)
                self.add("invoices", id=number, project_id=project["id"], period=f"{year}-{month:02}",
                         amount_cents=PRICES[plan] + usage, issued_at=day(issued), due_at=day(due), paid_at=paid and day(paid))

    def incidents(self):
        for number, (region, component, severity, start, hours) in enumerate(INCIDENTS, 1):
            begin = datetime.strptime(start, "%Y-%m-%d %H:%M")
            self.add("incidents", id=number, region=region, component=component, severity=severity, started_at=stamp(begin),
                     ended_at=stamp(begin + timedelta(hours=hours)), summary=words.INCIDENT_SUMMARIES[component])

    def tickets(self):
        rng = self.rng
        for _ in range(235):
            category = rng.choice(CATEGORIES)
            moment = TODAY - timedelta(minutes=int(rng.random() ** 1.6 * 210 * 1440) + 200)
            project = rng.choice([row for row in self.tables["projects"] if row["created_at"] < stamp(moment)])
            subject, body = rng.choice(words.TICKETS[category])
            self.ticket(project, category, weighted(rng, WEIGHTS), moment, subject, body)
        for incident in self.tables["incidents"]:
            begin = datetime.strptime(incident["started_at"], "%Y-%m-%d %H:%M:%S")
            hit = [p for p in self.tables["projects"] if p["region"] == incident["region"] and p["created_at"] < incident["started_at"]]
            category = {"builder": "builds", "router": "networking", "storage": "storage", "dashboard": "account"}[incident["component"]]
            texts = [words.INCIDENT_TICKETS[incident["component"]]] * rng.randrange(3, 7)
            texts += words.UNUSUAL if incident["id"] == 4 else []
            for text in texts:
                moment = begin + timedelta(minutes=rng.randrange(4, 600))
                level = weighted(rng, [("high", 1), ("urgent", 2)])
                self.ticket(rng.choice(hit), category, level, moment, *text)

    def ticket(self, project, category, priority, created, subject, body):
        rng = self.rng
        values = {"p": project["id"], "r": project["region"], "n": rng.randrange(12, 60), "m": rng.randrange(3, 10)}
        later = rng.random() < 0.14 and "{p}" in body  # the project is only named in a comment
        second = rng.choice(self.tables["projects"])["id"] if rng.random() < 0.05 and not later else None
        text = body.format(**{**values, "p": "our project" if later else project["id"]})
        text = text[0].upper() + text[1:] if later else text
        if second and second != project["id"]:
            text += f" Our other project {second} is fine."
        comments, moment = [], created
        if later:
            moment += timedelta(minutes=rng.randrange(15, 240))
            comments.append(("agent", "Which project is this about?", moment))
            moment += timedelta(minutes=rng.randrange(5, 200))
            comments.append(("customer", f"Sorry, it is {project['id']}.", moment))
        for _ in range(rng.choice([0, 1, 1, 2, 2, 3])):
            moment += timedelta(minutes=rng.randrange(20, 2400) if comments else rng.randrange(8, 400))
            author = rng.choice(["agent", "customer"]) if comments else "agent"
            pool = words.AGENT_COMMENTS if author == "agent" else words.CUSTOMER_COMMENTS
            comments.append((author, rng.choice(pool).format(**values), moment))
        comments = [entry for entry in comments if entry[2] < TODAY]
        age = (TODAY - created).days
        done = rng.random() < (0.9 if age > 60 else 0.55 if age > 14 else 0.3)
        last = comments[-1][2] if comments else created
        resolved = last + timedelta(minutes=rng.randrange(30, 7200))
        done = done and resolved < TODAY
        status = rng.choice(["resolved", "closed"]) if done else "pending" if rng.random() < 0.22 else "open"
        self.add("tickets", id=0, user_id=rng.randrange(1, 65), subject=subject.format(**values), body=text, category=category,
                 priority=priority, status=status, created_at=stamp(created), resolved_at=stamp(resolved) if done else None,
                 comments=comments)

    def number_tickets(self):
        """Ids follow time, as they would."""
        rows, number = self.tables["tickets"], 9000
        rows.sort(key=lambda row: row["created_at"])
        for place, row in enumerate(rows):
            row["id"] = 1201 + place
            for author, body, moment in row.pop("comments"):
                number += 1
                self.add("comments", id=number, ticket_id=row["id"], author=author, body=body, created_at=stamp(moment))
