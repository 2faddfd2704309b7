"""Writes the whole demo into a folder."""
import json
import tempfile
from pathlib import Path

from . import databases, judgements, readme, replies, reviews, runs, workspace
from .emit import document
from .solve import Facts
from .tasks import TASKS, suite
from .world import World

SEED = 77
COMMENT = "Sample data, invented for the demo; made by demo/make.py."


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def data(folder):
    """The databases; a file with the same content stays as it is, whatever SQLite wrote it."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = World(SEED).tables
    with tempfile.TemporaryDirectory() as fresh:
        for name, schema in databases.FILES.items():
            made, kept = Path(fresh) / f"{name}.db", folder / f"{name}.db"
            databases.build(made, schema, tables)
            if not kept.exists() or databases.content(kept) != databases.content(made):
                kept.write_bytes(made.read_bytes())


def sweep(folder, wanted):
    """Sample runs that an earlier version of this program made and this one does not. Other files are not ours to remove."""
    for path in folder.glob("*.yaml") if folder.exists() else []:
        if path not in wanted and "\n  sample: true\n" in path.read_text(encoding="utf-8"):
            path.unlink()


def forget(folder, wanted, by):
    """The same of reviews and judgements: those of the invented reviewer and the invented judge."""
    for path in folder.glob("*.yaml") if folder.exists() else []:
        if path not in wanted and by in path.read_text(encoding="utf-8"):
            path.unlink()


def write(root):
    """Gives the recorded runs, as they were meant."""
    data(root / "data")
    base = databases.Databases(root / "data")
    facts, files = Facts(base), {root / "touchstone.yaml": workspace.TEXT, root / replies.NAME: replies.text()}
    for task in TASKS:
        value, beside = suite(task, facts)
        files[root / "tasks" / f"{task.name}.yaml"] = document(value, COMMENT)
        for path, gold in beside.items():
            files[root / "tasks" / path] = json.dumps(gold, indent=2, ensure_ascii=False) + "\n"
    recorded = runs.record(base, facts)
    for run in recorded:
        files[root / "results" / run.file_name] = document(run.value())
    for name, text in reviews.files(recorded).items():
        files[root / "results" / ".touchstone" / "reviews" / name] = text
    for name, text in judgements.files(recorded, facts).items():
        files[root / "results" / ".touchstone" / "judgements" / name] = text
    files[root / "README.md"] = readme.text(recorded, facts)
    base.close()
    sweep(root / "results", files)
    forget(root / "results" / ".touchstone" / "reviews", files, reviews.BY)
    forget(root / "results" / ".touchstone" / "judgements", files, f"model: {judgements.MODEL}")
    for path, text in files.items():
        put(path, text)
    return recorded
