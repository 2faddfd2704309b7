"""What the made-up agents do for the last three tasks."""
from .scripts_easy import pasted
from .sql import C, S, TODAY, codes, plans, project_of

WEIGHTS = 'PRIORITY = {"urgent": 40, "high": 25, "normal": 10, "low": 0}\nPLAN = {"business": 30, "team": 15, "hobby": 5}\n'


class Prioritise:
    """prioritise-open-tickets"""
    title = "Open tickets, most pressing first"
    mended = "One ticket names no project, so it has no plan and gets 0 for it."

    def notes(self, p, slip):
        wrong = {"no_comments": ["I used the priority, the plan and the age of each ticket."], "body_only": ["The project was taken from the text of each ticket."],
                 "planned": ["The newest plan of each project was used."], "whole_age": ["Each day of age adds to the score."]}
        return wrong.get(slip, ["The last comment decides about the extra 10 points."]) + [f"Age is counted in full days up to {TODAY}.", "Ties go to the lower ticket id."]

    def query(self, p, slip, schema=""):
        last = "" if slip == "no_comments" else (
            f",\n  (SELECT c.author FROM {schema}comments c WHERE c.ticket_id = t.id ORDER BY c.created_at DESC LIMIT 1) AS last_comment_by")
        return (f"SELECT t.id, t.priority, CAST(julianday('{TODAY}') - julianday(t.created_at) AS INTEGER) AS age_days,\n"
                f"  {project_of(schema, slip != 'body_only')} AS project_id{last}\nFROM {schema}tickets t\nWHERE t.status = 'open'\nORDER BY t.id DESC\nLIMIT {p['count']}")

    def gather(self, r, p, slip):
        query = self.query(p, slip)
        rows = r.ask(S, query, r.pick(f"I'll fetch the {p['count']} newest open tickets with everything the score needs.", "Tickets first: priority, age, project and who spoke last."),
                     broken=query.replace("t.id DESC", "t.ticket_id DESC"))
        query = plans(codes(rows), slip)
        found = r.ask(C, query, r.pick("Only the plans are missing now.", f"Next, the plans of the {len(codes(rows))} projects."), broken=query.replace("h.plan FROM", "h.plan_name FROM"))
        return rows, found

    def scoring(self, slip):
        age = "row['age_days']" if slip == "whole_age" else "0.5 * min(row['age_days'], 30)"
        waits = "" if slip == "no_comments" else " + (10 if row['last_comment_by'] == 'customer' else 0)"
        return ("result = []\nfor row in tickets:\n    plan = plans.get(row['project_id'])\n"
                f"    score = PRIORITY[row['priority']] + PLAN.get(plan, 0) + {age}{waits}\n"
                "    result.append({'ticket_id': row['id'], 'project_id': row['project_id'], 'plan': plan, 'priority_score': score})\n"
                "result.sort(key=lambda row: (-row['priority_score'], row['ticket_id']))\n")

    def program(self, gathered, p, slip):
        rows, found = gathered
        code = ("import json\n\n" + WEIGHTS + pasted("tickets", rows) + pasted("plans", {row["project_id"]: row["plan"] for row in found}) + "\n" +
                self.scoring(slip) + "print(json.dumps(result))\n")
        return code, code.replace("PLAN.get(plan, 0)", "PLAN[plan]")

    def promptql(self, p, slip):
        code = (WEIGHTS + f'tickets = executor.run_sql("""\n{self.query(p, slip, "support.")}\n""")\n'
                f'plans = {{row["project_id"]: row["plan"] for row in executor.run_sql("""\n{plans(slip=slip, schema="control_plane.")}\n""")}}\n' + self.scoring(slip) +
                "executor.store_artifact('prioritised_tickets', 'Open tickets, most pressing first', 'table', result)\nexecutor.print(result[0])\n")
        plan = f"1. Fetch the {p['count']} newest open tickets with project, age and last comment\n2. Look up the plan of each project\n3. Score, sort, store"
        return plan, code, code.replace("PLAN.get(plan, 0)", "PLAN[plan]")


class Impact:
    """incident-impact"""
    title = "What the incident did"
    mended = "I forgot an import."

    def notes(self, p, slip):
        wrong = {"no_grace": ["Only tickets filed while the incident lasted are counted."], "all_regions": ["All tickets of those hours are counted."],
                 "body_only": ["The project was taken from the text of each ticket."]}
        return wrong.get(slip, ["The window ends 24 hours after the incident did.", "Plans are those of the day on which it started."]) + ["Projects archived before the start were not exposed."]

    def exposed(self, incident, schema=""):
        start = incident["started_at"]
        return (f"SELECT p.id AS project_id, (SELECT h.plan FROM {schema}plan_history h WHERE h.project_id = p.id AND h.since <= '{start[:10]}' ORDER BY h.since DESC LIMIT 1) AS plan\n"
                f"FROM {schema}projects p\nWHERE p.region = '{incident['region']}' AND p.created_at < '{start}' AND (p.archived_at IS NULL OR p.archived_at > '{start}')\nORDER BY p.id")

    def window(self, incident, slip, text=False, schema=""):
        end = f"'{incident['ended_at']}'" if slip == "no_grace" else f"datetime('{incident['ended_at']}', '+24 hours')"
        words = "t.subject, t.body, " if text else ""
        return (f"SELECT t.id, {words}{project_of(schema, slip != 'body_only')} AS project_id,\n"
                "  (SELECT CAST(round((julianday(min(c.created_at)) - julianday(t.created_at)) * 1440) AS INTEGER)\n"
                f"   FROM {schema}comments c WHERE c.ticket_id = t.id AND c.author = 'agent') AS reply_minutes\n"
                f"FROM {schema}tickets t\nWHERE t.created_at BETWEEN '{incident['started_at']}' AND {end}\nORDER BY t.id")

    def gather(self, r, p, slip):
        incident, = r.ask(C, f"SELECT * FROM incidents WHERE id = {p['incident']}", "What was this incident, when and where?",
                          broken=f"SELECT * FROM incidents WHERE incident_id = {p['incident']}")
        text = "unusual text" in r.run.features
        projects, tickets = r.pair("With its times I can ask for the exposed projects and the tickets.", (C, self.exposed(incident)), (S, self.window(incident, slip, text)))
        return incident, projects, [{key: row[key] for key in ("id", "project_id", "reply_minutes")} for row in tickets]

    def counting(self, number, slip):
        inside = "" if slip == "all_regions" else " if row['project_id'] in plans"
        return (f"hit = [row for row in tickets{inside}]\nminutes = [row['reply_minutes'] for row in hit if row['reply_minutes'] is not None]\n"
                "by_plan = Counter(plans.get(row['project_id']) for row in hit)\nmedian = statistics.median(minutes)\n"
                f"result = {{'incident': {number}, 'region': incident['region'], 'component': incident['component'], 'projects_exposed': len(plans),\n"
                "          'ticket_ids': [row['id'] for row in hit],\n"
                "          'tickets_by_plan': {plan: by_plan[plan] for plan in ('business', 'team', 'hobby') if by_plan[plan]},\n"
                "          'median_first_reply_minutes': int(median) if median == int(median) else median}\n")

    def program(self, gathered, p, slip):
        incident, projects, tickets = gathered
        code = ("import json\nimport statistics\nfrom collections import Counter\n\n" + pasted("incident", {key: incident[key] for key in ("region", "component")}) +
                pasted("plans", {row["project_id"]: row["plan"] for row in projects}) + pasted("tickets", tickets) + "\n" + self.counting(p["incident"], slip) + "print(json.dumps(result))\n")
        return code, code.replace("import statistics\n", "")

    def promptql(self, p, slip):
        about = {"region": "{incident['region']}", "started_at": "{incident['started_at']}", "ended_at": "{incident['ended_at']}"}
        exposed = self.exposed({**about, "started_at": "{start}"}, "control_plane.")
        code = ("import statistics\nfrom collections import Counter\n\n"
                f"incident = executor.run_sql('SELECT * FROM control_plane.incidents WHERE id = {p['incident']}')[0]\nstart = incident['started_at']\n"
                f'projects = executor.run_sql(f"""\n{exposed}\n""")\nplans = {{row[\'project_id\']: row[\'plan\'] for row in projects}}\n'
                f'tickets = executor.run_sql(f"""\n{self.window(about, slip, False, "support.")}\n""")\n' + self.counting(p["incident"], slip) +
                "executor.store_artifact('incident_impact', 'Impact of the incident', 'text', result)\nexecutor.print(result)\n")
        plan = "1. Read the incident\n2. List the exposed projects with their plans\n3. Take the tickets of the window and join them\n4. Count, take the median, store"
        return plan, code, code.replace("import statistics\n", "")


class Churn:
    """churn-risk"""
    title = "Projects we may lose"
    mended = "Projects without an overdue invoice are not in that result, so they count 0."

    def notes(self, p, slip):
        wrong = {"all_time": ["Every step down in the plan history counts 3."], "swapped_weights": ["The three signals were added up with their weights."],
                 "archived": ["All projects on these plans were ranked."], "body_only": ["The project was taken from the text of each ticket."]}
        return wrong.get(slip, ["Archived projects and plans that have not begun are left out.", "Only steps down since 2024-09-02 count."]) + ["Equal risks are in order of project id."]

    def queries(self, p, slip, schema=("", "")):
        names = ", ".join(f"'{name}'" for name in p["plans"].split(" and "))
        alive = "" if slip == "archived" else "p.archived_at IS NULL AND "
        current = (f"SELECT p.id AS project_id, h.plan\nFROM {schema[1]}projects p JOIN {schema[1]}plan_history h ON h.project_id = p.id\n"
                   f"WHERE {alive}h.plan IN ({names})\n  AND h.since = (SELECT max(x.since) FROM {schema[1]}plan_history x WHERE x.project_id = p.id AND x.since <= '{TODAY}')\nORDER BY p.id")
        since = "" if slip == "all_time" else " AND since >= '2024-09-02'"
        rank = "CASE {} WHEN 'hobby' THEN 1 WHEN 'team' THEN 2 ELSE 3 END"
        down = ("SELECT project_id, count(*) AS steps_down FROM (\n  SELECT project_id, since, " + rank.format("plan") + " AS size,\n    lag(" + rank.format("plan") +
                f") OVER (PARTITION BY project_id ORDER BY since) AS before\n  FROM {schema[1]}plan_history WHERE since <= '{TODAY}')\nWHERE size < before{since}\nGROUP BY project_id ORDER BY project_id")
        money = f"SELECT project_id, count(*) AS overdue FROM {schema[1]}invoices\nWHERE paid_at IS NULL AND due_at < '{TODAY}'\nGROUP BY project_id ORDER BY project_id"
        loud = (f"SELECT project_id, count(*) AS tickets FROM (\n  SELECT {project_of(schema[0], slip != 'body_only')} AS project_id\n  FROM {schema[0]}tickets t\n"
                "  WHERE t.priority IN ('high', 'urgent') AND t.created_at >= '2024-12-31')\nWHERE project_id IS NOT NULL\nGROUP BY project_id ORDER BY project_id")
        return current, down, money, loud

    def gather(self, r, p, slip):
        current, down, money, loud = self.queries(p, slip)
        tickets = r.ask(S, loud, r.pick("Loud tickets first, grouped by project.", "I'll begin with the help desk: tickets with priority high or urgent."), broken=loud.replace("t.priority", "t.prio"))
        if "long result" in r.run.features:
            r.ask(C, "SELECT id, project_id, period, amount_cents, due_at, paid_at FROM invoices ORDER BY id LIMIT 300",
                  "I want to see the invoices themselves once, to understand what unpaid looks like.")
        steps, owed = r.pair("Steps down and overdue invoices come from the control plane.", (C, down), (C, money))
        ranked = r.ask(C, current, "And the projects to be ranked, with their plan today.", broken=current.replace("p.archived_at", "p.deleted_at"))
        return ranked, steps, owed, tickets

    def scoring(self, slip, count):
        return ("for row in ranked:\n    code = row['project_id']\n"
                f"    row['risk'] = 3 * down.get(code, 0) + 2 * overdue.get(code, 0) + loud.get(code, 0)\n"
                f"ranked.sort(key=lambda row: (-row['risk'], row['project_id']))\nresult = [{{'rank': n, **row}} for n, row in enumerate(ranked[:{count}], 1)]\n")

    def program(self, gathered, p, slip):
        ranked, steps, owed, tickets = gathered
        maps = [pasted(name, {row["project_id"]: row[key] for row in rows})
                for name, rows, key in (("down", steps, "steps_down"), ("overdue", owed, "overdue"), ("loud", tickets, "tickets"))]
        code = "import json\n\n" + pasted("ranked", ranked) + "".join(maps) + "\n" + self.scoring(slip, p["count"]) + "print(json.dumps(result))\n"
        return code, code.replace("overdue.get(code, 0)", "overdue[code]")

    def promptql(self, p, slip):
        current, down, money, loud = self.queries(p, slip, ("support.", "control_plane."))
        code = (f'def counts(sql):\n    return {{row["project_id"]: list(row.values())[1] for row in executor.run_sql(sql)}}\n\nranked = executor.run_sql("""\n{current}\n""")\n'
                f'down = counts("""\n{down}\n""")\noverdue = counts("""\n{money}\n""")\nloud = counts("""\n{loud}\n""")\n' + self.scoring(slip, p["count"]) +
                "executor.store_artifact('churn_risk', 'Projects we may lose', 'table', result)\n")
        plan = "1. List the projects on the given plans\n2. Count steps down, overdue invoices and loud tickets for each\n3. Add them up with their weights, rank, store"
        return plan, code, code.replace("overdue.get(code, 0)", "overdue[code]")
