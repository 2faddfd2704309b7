"""What the made-up agents do for the first three tasks: what they ask, the programs they write. A `slip` is a real mistake in one of them."""
import json

from .sql import C, S, TODAY, code_in, codes, plans, project_of


def pasted(name, value):
    """Data as an agent pastes it into a program."""
    if isinstance(value, list) and value:
        return f"{name} = [\n" + "".join(f"    {json.dumps(row, ensure_ascii=False)},\n" for row in value).replace("null", "None") + "]\n"
    return f"{name} = {json.dumps(value, ensure_ascii=False)}\n".replace("null", "None")


class OpenByPlan:
    """open-tickets-by-plan"""
    title = "Tickets by plan"
    mended = "Tickets that name no project give `None`; `plans.get` puts them under `unknown`."

    def notes(self, p, slip):
        told = ["Projects named only in a comment are counted as well.", "Plan changes that lie in the future are ignored."]
        wrong = {"body_only": ["Project ids were taken from the text of the tickets."], "planned": ["For each project I took the newest row of its plan history."],
                 "first_plan": ["Each project has a row in the plan history."], "with_pending": ["Pending tickets are not done yet, so they are open too."]}
        return wrong.get(slip, told) + ["Tickets without a project are in the row `unknown`."]

    def gather(self, r, p, slip):
        status = "t.status IN ('open', 'pending')" if slip == "with_pending" else f"t.status = '{p['status']}'"
        first = f"SELECT t.id, {code_in('t.body')} AS project_id\nFROM tickets t\nWHERE {status}\nORDER BY t.id"
        begin = r.pick(f"I'll start with the tickets that are {p['status']} and take the project id out of their text.",
                       "First the tickets, with the project each one names:")
        if "parallel calls" in r.run.features:
            rows, found = r.pair("Both lists can be fetched at once: the tickets, and the plan of every project.", (S, first), (C, plans(slip=slip)))
        else:
            rows = r.ask(S, first, begin, broken=first.replace("t.body", "t.description"))
        lost = [row["id"] for row in rows if not row["project_id"]]
        if slip != "body_only":
            later = (f"SELECT ticket_id, substr(body, instr(body, 'prj-'), 10) AS project_id\nFROM comments\n"
                     f"WHERE instr(body, 'prj-') > 0 AND ticket_id IN ({', '.join(map(str, lost))})\nORDER BY ticket_id, created_at")
            named = {row["ticket_id"]: row["project_id"] for row in reversed(r.ask(S, later, f"{len(lost)} tickets do not name a project. The task says to look at their comments."))}
            rows = [{**row, "project_id": row["project_id"] or named.get(row["id"])} for row in rows]
        if "parallel calls" not in r.run.features:
            query = plans(codes(rows), slip)
            found = r.ask(C, query, r.pick("Now the plan of each of these projects today.", f"{len(codes(rows))} different projects. Next: which plan is each of them on?"),
                          broken=query.replace("h.since", "h.started_at", 1))
        return rows, found

    def program(self, gathered, p, slip):
        rows, found = gathered
        code = (pasted("tickets", {str(row["id"]): row["project_id"] for row in rows}) + pasted("plans", {row["project_id"]: row["plan"] for row in found}) +
                '\ncount = Counter(plans.get(project, "unknown") for project in tickets.values())\n'
                'print(json.dumps([{"plan": plan, "tickets": count[plan]} for plan in sorted(count)]))\n')
        code = "import json\nfrom collections import Counter\n\n" + code
        return code, code.replace('plans.get(project, "unknown")', "plans[project]")

    def promptql(self, p, slip):
        code = (f'rows = executor.run_sql("""\nWITH ticket AS (\n  SELECT t.id, {project_of("support.", slip != "body_only")} AS project_id\n'
                f"  FROM support.tickets t WHERE t.status = '{p['status']}'\n), plan AS (\n{plans(slip=slip, schema='control_plane.')}\n)\n"
                "SELECT coalesce(plan.plan, 'unknown') AS plan, count(*) AS tickets\nFROM ticket LEFT JOIN plan ON plan.project_id = ticket.project_id\n"
                'GROUP BY 1 ORDER BY 1\n""")\n'
                "executor.store_artifact('open_tickets_by_plan', 'Tickets by plan', 'table', rows)\n")
        plan = "1. Take the tickets with the wanted status and find the project of each\n2. Join the plan of the project today\n3. Count by plan and store the result"
        return plan, code, code.replace("support.tickets t WHERE t.status", "support.tickets t WHERE t.state")


class Resolution:
    """resolution-time-by-category"""
    title = "Time to resolution by category"
    mended = "The times have a clock part; `fromisoformat` reads both."

    def notes(self, p, slip):
        wrong = {"days": ["`julianday` gives the difference; I averaged it per category."], "resolved_only": ["Only tickets with status `resolved` have a resolution."],
                 "by_name": ["Rows are in order of category."]}
        return wrong.get(slip, ["Both `resolved` and `closed` tickets count: what matters is `resolved_at`."]) + [f"The window is {p['start']} to {p['end']}, its end not included."]

    def gather(self, r, p, slip):
        where = f"created_at >= '{p['start']}' AND created_at < '{p['end']}' AND " + ("status = 'resolved'" if slip == "resolved_only" else "resolved_at IS NOT NULL")
        if "python" in r.run.system:
            query = f"SELECT category, created_at, resolved_at FROM tickets\nWHERE {where}\nORDER BY id"
            return r.ask(S, query, "I fetch the single tickets and do the arithmetic in Python.", broken=query.replace("resolved_at FROM", "closed_at FROM"))
        r.ask(S, "SELECT status, count(*) AS tickets, count(resolved_at) AS with_time FROM tickets GROUP BY status ORDER BY status",
              r.pick("Before I average anything: which statuses carry a resolution time?", "A quick look at the statuses first."))
        hours = "julianday(resolved_at) - julianday(created_at)"
        hours = hours if slip == "days" else f"({hours}) * 24"
        query = (f"SELECT category, count(*) AS tickets, round(avg({hours}), 1) AS mean_hours\nFROM tickets\nWHERE {where}\n"
                 f"GROUP BY category\nORDER BY {'category' if slip == 'by_name' else 'mean_hours DESC'}")
        return r.ask(S, query, "Now the aggregate itself.", broken=query.replace("avg(", "mean("))

    def program(self, rows, p, slip):
        key = "row['category']" if slip == "by_name" else "-row['mean_hours']"
        code = ("import json\nfrom datetime import datetime\n\n" + pasted("rows", [list(row.values()) for row in rows]) +
                "\ntimes = {}\nfor category, created, resolved in rows:\n    spent = datetime.fromisoformat(resolved) - datetime.fromisoformat(created)\n"
                f"    times.setdefault(category, []).append(spent.total_seconds() / {86400 if slip == 'days' else 3600})\n"
                'result = [{"category": name, "tickets": len(t), "mean_hours": round(sum(t) / len(t), 1)} for name, t in times.items()]\n'
                f"result.sort(key=lambda row: {key})\nprint(json.dumps(result))\n")
        broken = code.replace("datetime.fromisoformat(resolved)", 'datetime.strptime(resolved, "%Y-%m-%d")')
        return code, broken

    def promptql(self, p, slip):
        order = "category" if slip == "by_name" else "mean_hours DESC"
        only = "status = 'resolved'" if slip == "resolved_only" else "resolved_at IS NOT NULL"
        code = ('rows = executor.run_sql("""\nSELECT category, count(*) AS tickets,\n       round(avg((julianday(resolved_at) - julianday(created_at)) * 24), 1) AS mean_hours\n'
                f"FROM support.tickets\nWHERE {only} AND created_at >= '{p['start']}' AND created_at < '{p['end']}'\nGROUP BY category ORDER BY {order}\n\"\"\")\n"
                "executor.store_artifact('resolution_times', 'Time to resolution by category', 'table', rows)\nexecutor.print(rows[0])\n")
        return "1. Aggregate the resolved tickets of the window by category\n2. Store the table", code, code.replace("avg((", "mean((")


class Overdue:
    """overdue-and-waiting"""
    title = "Projects that owe us money and wait for an answer"
    mended = "Not every project with an overdue invoice has a ticket; those are skipped now."

    def notes(self, p, slip):
        wrong = {"any_status": ["All tickets with the given priority are considered."], "open_only": ["Only open tickets wait for us."],
                 "body_only": ["The project was taken from the text of each ticket."], "cents": ["The sums are those of the unpaid invoices."]}
        return wrong.get(slip, ["Pending tickets count as waiting, resolved and closed ones do not."]) + [f"An invoice is overdue when it is unpaid and was due before {TODAY}."]

    def queries(self, p, slip, schema=("", "")):
        levels = ", ".join(f"'{level}'" for level in p["levels"].split(" or "))
        status = {"any_status": "", "open_only": "t.status = 'open' AND "}.get(slip, "t.status IN ('open', 'pending') AND ")
        tickets = (f"SELECT t.id, {project_of(schema[0], slip != 'body_only')} AS project_id\nFROM {schema[0]}tickets t\n"
                   f"WHERE {status}t.priority IN ({levels})\nORDER BY t.id")
        total = "sum(i.amount_cents)" if slip == "cents" else "round(sum(i.amount_cents) / 100.0, 2)"
        money = (f"SELECT i.project_id, o.name AS owner, {total} AS overdue_eur, min(i.due_at) AS oldest_due\n"
                 f"FROM {schema[1]}invoices i JOIN {schema[1]}projects p ON p.id = i.project_id JOIN {schema[1]}owners o ON o.id = p.owner_id\n"
                 f"WHERE i.paid_at IS NULL AND i.due_at < '{TODAY}'\nGROUP BY i.project_id\nORDER BY overdue_eur DESC")
        return tickets, money

    def gather(self, r, p, slip):
        tickets, money = self.queries(p, slip)
        if "parallel calls" in r.run.features:
            return r.pair("The two halves of the question are independent, so I ask for both at once.", (S, tickets), (C, money))
        if r.run.stop_at == C:
            money_rows = r.ask(C, money, "Who owes us money?")
            return r.ask(S, tickets, "And who is waiting?"), money_rows
        waiting = r.ask(S, tickets, r.pick("First: which tickets are waiting, and for which project?", f"Let me find the waiting tickets ({p['levels']})."),
                        broken=tickets.replace("t.priority", "t.severity"))
        return waiting, r.ask(C, money, "Now the overdue invoices with the owners.", broken=money.replace("o.name", "o.full_name"))

    def program(self, gathered, p, slip):
        waiting, money = gathered
        code = ("import json\n\n" + pasted("waiting", [list(row.values()) for row in waiting]) + pasted("overdue", [list(row.values()) for row in money]) +
                "\ntickets = {}\nfor number, project in waiting:\n    tickets.setdefault(project, []).append(number)\n"
                'result = [{"project_id": project, "owner": owner, "overdue_eur": total, "oldest_due": due, "ticket_ids": tickets[project]}\n'
                "          for project, owner, total, due in overdue if project in tickets]\n"
                'result.sort(key=lambda row: (-row["overdue_eur"], row["project_id"]))\nprint(json.dumps(result, ensure_ascii=False))\n')
        return code, code.replace(" if project in tickets", "")

    def promptql(self, p, slip):
        tickets, money = self.queries(p, slip, ("support.", "control_plane."))
        code = (f'waiting = executor.run_sql("""\n{tickets}\n""")\noverdue = executor.run_sql("""\n{money}\n""")\n\ntickets = {{}}\nfor row in waiting:\n'
                "    tickets.setdefault(row['project_id'], []).append(row['id'])\n"
                "rows = [{**row, 'ticket_ids': tickets[row['project_id']]} for row in overdue if row['project_id'] in tickets]\n"
                "executor.store_artifact('overdue_and_waiting', 'Projects that owe us money and wait', 'table', rows)\n")
        plan = "1. Find the waiting tickets and their projects\n2. Sum the overdue invoices by project\n3. Keep the projects in both lists"
        return plan, code, code.replace(" if row['project_id'] in tickets", "")
