"""Turns the plan into recorded runs."""
import copy

from . import plan as planned
from .prose import closing, done, fence
from .recorder import Conversation, Request, Stop
from .scripts_easy import OpenByPlan, Overdue, Resolution
from .scripts_hard import Churn, Impact, Prioritise
from .tasks import BY_NAME, TASKS

SCRIPTS = {script.__doc__: script() for script in (OpenByPlan, Resolution, Overdue, Prioritise, Impact, Churn)}


class Run:
    """One run of the plan; after `record` it also knows what is in its file."""

    def __init__(self, task, system, model, variation, repeat, outcome):
        self.task, self.system, self.model, self.variation, self.repeat = BY_NAME[task], system, model, variation, repeat
        self.outcome, features, self.options = outcome
        self.features = list(features)
        self.slip, self.stop_at, self.text = (self.options.get(key) for key in ("slip", "stop_at", "text"))
        self.early = planned.EARLY.get(task, [])[: self.options.get("nudges", 0)]
        again = f"-run{repeat}" if repeat > 1 else ""
        self.file_name = f"{task}-{system}-{model}-variation{variation}{again}.yaml"
        self.recorded = None

    def value(self):
        return self.recorded


def plan():
    runs = [Run(task.name, system, model, 0, 1, outcome) for task in TASKS
            for system, outcomes in planned.GRID[task.name].items() for model, outcome in zip(planned.MODELS, outcomes)]
    return runs + [Run(*entry) for entry in planned.MORE]


def record(base, facts):
    runs = plan()
    for run in runs:
        recorder = (Request if run.system == planned.P else Conversation)(run, base)
        play = request if run.system == planned.P else conversation
        run.recorded = recorder.value(play(recorder, run, facts))
    return runs


def slipped(run, answer):
    """Mistakes made when writing the answer down, not when computing it."""
    answer = copy.deepcopy(answer)
    for key, by, *place in run.options.get("off", []):
        for row in [answer[place[0]]] if place else answer:
            row[key] = round(row[key] + by, 2)
    for place in run.options.get("drop", []):
        del answer[place]
    if "swap" in run.options:
        one, other = run.options["swap"]
        answer[one], answer[other] = answer[other], answer[one]
    return answer


def conversation(recorder, run, facts):
    script, parameters = SCRIPTS[run.task.name], run.task.variations[run.variation]
    recorder.user(run.task.prompt("tool_calling_prompt", run.variation))
    recorder.look_around()
    try:
        gathered = script.gather(recorder, parameters, run.slip)
        answer = slipped(run, run.task.gold(facts, run.variation, run.slip))
        if run.system == planned.Y and not run.options.get("no_program"):
            code, broken = script.program(gathered, parameters, run.slip)
            told = recorder.pick("I let Python do the counting, so that nothing is lost on the way.", "Now I combine the results in a program.", "All data is here; the rest is arithmetic.")
            answer = recorder.program(code, told, broken)
    except Stop:
        return guess(recorder, run, facts)
    if run.outcome == "no answer":
        recorder.turn(run.text)
        return None
    notes = [run.options["remark"]] if "remark" in run.options else []
    notes += script.notes(parameters, run.slip)
    recorder.turn(closing(recorder, script.title, answer, notes, run.options.get("trailing", False)))
    return answer


def guess(recorder, run, facts):
    """An agent that never called one of the tools still says something."""
    if not run.options.get("guess"):
        return None
    answer = run.task.gold(facts, run.variation)
    if isinstance(answer, dict):
        answer = {**answer, "projects_exposed": 0, "ticket_ids": [], "tickets_by_plan": {}, "median_first_reply_minutes": 0}
        said = "No tickets could be linked to the incident, so the counts are zero."
    else:
        owed = recorder.items[-1]["tool_call"]["result"]
        answer = [{**row, "ticket_ids": []} for row in owed]
        said = "These are the projects with overdue invoices. I left the ticket ids empty, as they were not part of the invoice data."
    recorder.turn(f"{said}\n\n{fence(answer)}")
    return answer


def request(recorder, run, facts):
    script, parameters = SCRIPTS[run.task.name], run.task.variations[run.variation]
    if run.outcome == "error":
        recorder.seconds += run.options["lost"]
        recorder.failure = run.text
        return
    steps, code, broken = script.promptql(parameters, run.slip)
    if run.options.get("plan_only"):
        recorder.act(run.text, steps)
        return
    if "failed program" in run.features:
        fault = recorder.act(recorder.pick("Let me compute that.", None), steps, broken)
        assert fault, f"{run.file_name}: the broken program works"
        last = fault.splitlines()[-1]
        recorder.act(f"The program stopped with `{last}`. " + ("I used a wrong name in the query." if "Error: no such" in last else script.mended), None, code)
    else:
        recorder.act(recorder.pick("I'll work through this step by step.", "Let me compute that.", None), steps, code)
    answer = recorder.executor.artifacts[-1]["data"]
    recorder.act(done(recorder, script.title, answer, script.notes(parameters, run.slip)))

