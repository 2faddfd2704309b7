#!/usr/bin/env python3
"""Summarises a Parquet report with DuckDB, as `touchstone stats --json` does, and prints JSON.

  scripts/parquet-peer.py FILE    needs the package duckdb

Sums are made in the order in which Touchstone makes them, so that they are equal to the last digit:
scores by task (by variation or by run where there is only one), amounts from the least to the most.
Decimal numbers are printed as text with all their digits.
"""
import json
import sys

import duckdb

SCORES = """
WITH scored AS (
  SELECT *, coalesce(system || '/' || model, system, model, 'unknown') AS name
  FROM runs WHERE counted_score IS NOT NULL
), wide AS (
  SELECT name, count(DISTINCT task) AS tasks,
         count(DISTINCT (task, variation, variation_name)) AS rows FROM scored GROUP BY name
), unit AS (
  SELECT name, counted_score, path, CASE
    WHEN rows < 2 OR task IS NULL THEN path
    WHEN tasks > 1 THEN task
    ELSE concat(variation, ' ', variation_name) END AS unit
  FROM scored JOIN wide USING (name)
), sums AS (
  SELECT name, unit, sum(counted_score ORDER BY path) AS s, count(*)::DOUBLE AS n
  FROM unit GROUP BY name, unit
)
SELECT name, sum(s ORDER BY n, s) / sum(n) FROM sums GROUP BY name
"""

COUNTS = """
SELECT coalesce(system || '/' || model, system, model, 'unknown') AS name,
  count(*), count(counted_score), count(*) FILTER (outcome = 'error'),
  count(*) FILTER (outcome = 'waiting'), count(*) FILTER (outcome = 'unscored'),
  count(*) FILTER (outcome = 'passed'), count(*) FILTER (outcome IN ('passed', 'failed')),
  sum(cost ORDER BY cost) FILTER (cost >= 0 AND outcome NOT IN ('running', 'damaged')),
  sum(tokens) FILTER (outcome NOT IN ('running', 'damaged'))
FROM runs GROUP BY name ORDER BY name
"""

BY_TASK = """
SELECT task, coalesce(system || '/' || model, system, model, 'unknown') AS name, count(*),
  count(*) FILTER (outcome = 'passed') FROM runs GROUP BY ALL ORDER BY ALL
"""

SCORERS = """
SELECT s.scorer, count(*), count(s.score) FROM (SELECT unnest(scores) AS s FROM runs)
GROUP BY s.scorer ORDER BY s.scorer
"""


def exact(number):
    return None if number is None else repr(float(number))


def main(path):
    duck = duckdb.connect()
    duck.execute("SET threads = 1")
    file = path.replace("'", "''")
    duck.execute(f"CREATE VIEW runs AS SELECT * FROM read_parquet('{file}')")
    means = dict(duck.execute(SCORES).fetchall())
    groups = [
        {
            "name": name, "runs": runs, "scored": scored, "errors": errors, "waiting": waiting,
            "unscored": unscored, "passed": passed, "decided": decided,
            "rate": exact(passed / decided if decided else None), "score": exact(means.get(name)),
            "cost": exact(cost),
            "tokens": None if tokens is None else int(tokens),
        }
        for name, runs, scored, errors, waiting, unscored, passed, decided, cost, tokens
        in duck.execute(COUNTS).fetchall()
    ]
    tasks = [list(row) for row in duck.execute(BY_TASK).fetchall()]
    scorers = [list(row) for row in duck.execute(SCORERS).fetchall()]
    print(json.dumps({"groups": groups, "tasks": tasks, "scorers": scorers}))


main(sys.argv[1])
