"""Writes the two databases and answers SQL on them, read-only. The files are the same in content every time; their bytes also
depend on the SQLite version (it is in the header), so they are compared by content and only rewritten when that differs."""
import sqlite3

SUPPORT = """
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, joined_at TEXT NOT NULL);
CREATE TABLE tickets (
  id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id), subject TEXT NOT NULL, body TEXT NOT NULL,
  category TEXT NOT NULL,  -- builds, deploys, networking, storage, billing, account
  priority TEXT NOT NULL,  -- low, normal, high, urgent
  status TEXT NOT NULL,    -- open, pending, resolved, closed
  created_at TEXT NOT NULL, resolved_at TEXT);
CREATE TABLE comments (
  id INTEGER PRIMARY KEY, ticket_id INTEGER NOT NULL REFERENCES tickets(id),
  author TEXT NOT NULL,    -- customer, agent
  body TEXT NOT NULL, created_at TEXT NOT NULL);
"""
CONTROL_PLANE = """
CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT NOT NULL, company TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE projects (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, owner_id INTEGER NOT NULL REFERENCES owners(id),
  region TEXT NOT NULL,    -- fra, iad, sin, gru
  created_at TEXT NOT NULL, archived_at TEXT);
CREATE TABLE plan_history (
  project_id TEXT NOT NULL REFERENCES projects(id),
  plan TEXT NOT NULL,      -- hobby, team, business
  since TEXT NOT NULL,     -- may lie in the future: a change that is planned
  PRIMARY KEY (project_id, since));
CREATE TABLE invoices (
  id INTEGER PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects(id), period TEXT NOT NULL,
  amount_cents INTEGER NOT NULL, issued_at TEXT NOT NULL, due_at TEXT NOT NULL, paid_at TEXT);
CREATE TABLE incidents (
  id INTEGER PRIMARY KEY, region TEXT NOT NULL, component TEXT NOT NULL, severity TEXT NOT NULL,
  started_at TEXT NOT NULL, ended_at TEXT NOT NULL, summary TEXT NOT NULL);
"""
FILES = {"support": SUPPORT, "control_plane": CONTROL_PLANE}
# What the tools of the workspace file stand on.
TOOLS = {"query_support_tickets": "support", "query_control_plane_data": "control_plane"}


def build(path, schema, tables):
    """A fresh file: fixed page size, no free pages, nothing in it that depends on the day."""
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    base.execute("PRAGMA page_size = 4096")
    base.executescript(schema)
    for name, rows in tables.items():
        if f"CREATE TABLE {name} " in schema:
            keys = list(rows[0])
            marks = ", ".join("?" for _ in keys)
            base.executemany(f"INSERT INTO {name} ({', '.join(keys)}) VALUES ({marks})", [[row[key] for key in keys] for row in rows])
    base.commit()
    base.execute("VACUUM")
    base.close()


def content(path):
    """Everything in the file as SQL, to compare two files."""
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return "\n".join(base.iterdump())
    finally:
        base.close()


class Databases:
    """Both databases, open for reading."""

    def __init__(self, folder):
        self.single = {name: self.open(f"file:{folder / name}.db?mode=ro") for name in FILES}
        self.both = self.open("file::memory:")
        for name in FILES:
            self.both.execute(f"ATTACH DATABASE 'file:{folder / name}.db?mode=ro' AS {name}")

    @staticmethod
    def open(address):
        base = sqlite3.connect(address, uri=True)
        base.row_factory = sqlite3.Row
        return base

    def tool(self, name, sql):
        """What a tool call gives: rows, or raises what SQLite says."""
        return [dict(row) for row in self.single[TOOLS[name]].execute(sql)]

    def all(self, sql):
        """The same over both (`support.tickets`, `control_plane.projects`)."""
        return [dict(row) for row in self.both.execute(sql)]

    def close(self):
        for base in (*self.single.values(), self.both):
            base.close()
