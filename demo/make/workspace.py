"""The workspace file of the demo."""
TEXT = """\
# The workspace file of the demo: where things are, and which tools a run may call.
# Everything here is sample data made by make.py; see README.md.
input_dir: tasks
output_dir: results
models:  # the same as the built-in ones, written out to show where prices come from (dollars per million tokens)
  claude: { provider: anthropic, model: claude-3-7-sonnet-latest, max_tokens: 8192, price: { input: 3.0, output: 15.0 } }
  o1: { provider: openai, model: o1, price: { input: 15.0, output: 60.0 } }
  o3-mini: { provider: openai, model: o3-mini, price: { input: 1.1, output: 4.4 } }
  # Needs no key and asks nobody: it says again what `claude` says in the recorded runs, and the tools really run.
  replay: { provider: replay, model: claude, recordings: results }
tools:
  query_support_tickets:
    kind: sql
    database: sqlite:data/support.db
    description: Users, tickets and comments of the help desk. One SELECT in SQLite's dialect.
  query_control_plane_data:
    kind: sql
    database: sqlite:data/control_plane.db
    description: Owners, projects, their plans over time, invoices and incidents. One SELECT in SQLite's dialect.
run: { concurrency: 4, max_turns: 30, max_cost: 5.00, nudge: { auto: true, max: 3 } }
"""
