"""Pieces of SQL that several scripts use, as an agent would write them."""

TODAY = "2025-03-01"
S, C = "query_support_tickets", "query_control_plane_data"


def code_in(column):
    return f"CASE WHEN instr({column}, 'prj-') > 0 THEN substr({column}, instr({column}, 'prj-'), 10) END"


def project_of(schema="", comments=True):
    """The project of ticket `t`: body first, then comments."""
    if not comments:
        return code_in("t.body")
    return (f"coalesce(\n    {code_in('t.body')},\n    (SELECT substr(c.body, instr(c.body, 'prj-'), 10) FROM {schema}comments c\n"
            f"     WHERE c.ticket_id = t.id AND instr(c.body, 'prj-') > 0 ORDER BY c.created_at LIMIT 1))")


def quoted(values):
    return ", ".join(f"'{value}'" for value in values)


def plans(codes=None, slip=None, day=TODAY, schema=""):
    """The plan of each project on a day."""
    begun = "" if slip == "planned" else f" AND x.since <= '{day}'"
    pick = "min" if slip == "first_plan" else "max"
    only = f"\n  AND h.project_id IN ({quoted(codes)})" if codes else ""
    return (f"SELECT h.project_id, h.plan FROM {schema}plan_history h\nWHERE h.since = (SELECT {pick}(x.since) FROM {schema}plan_history x "
            f"WHERE x.project_id = h.project_id{begun}){only}\nORDER BY h.project_id")


def codes(rows):
    return sorted({row["project_id"] for row in rows if row["project_id"]})
