"""Records what a made-up agent does. What it says is invented; what its tools and programs answer is real: the SQL is run on the
demo databases and the Python is run here."""
import contextlib
import io
import json
import re
import traceback
from datetime import datetime, timedelta
from random import Random

from .sql import S

MODELS = {  # id, dollars per million tokens in and out, tokens a second
    "claude": ("claude-3-7-sonnet-latest", 3.0, 15.0, 62),
    "o1": ("o1", 15.0, 60.0, 45),
    "o3-mini": ("o3-mini", 1.1, 4.4, 110),
}
NOTE = "Sample data: invented for the demo. No model said this; only the results of tools and programs are real."
KEYWORDS = re.compile(r"\b(SELECT|FROM|WHERE|AND|OR|ORDER BY|GROUP BY|AS|CASE|WHEN|THEN|ELSE|END|IN|IS|NOT|NULL|JOIN|ON|LIMIT|DESC|CAST|INTEGER|OVER|PARTITION BY|BETWEEN)\b")
FIRST_DAY = datetime(2025, 3, 3, 8, 12)


class Stop(Exception):
    """The run ends here."""


def tokens(value):
    return len(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) // 4 + 4


def run_program(code, names):
    """Runs one of our own short programs; gives what it printed and, when it failed, the last lines of the traceback."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(code, "program.py", "exec"), names)  # our own text, not a model's
    except Exception as fault:
        line = next(frame.lineno for frame in traceback.extract_tb(fault.__traceback__) if frame.filename == "program.py")
        trace = f'Traceback (most recent call last):\n  File "program.py", line {line}, in <module>\n{type(fault).__name__}: {fault}'
        return out.getvalue(), trace
    return out.getvalue(), None


class Recorder:
    """What both kinds of runs share: chance, money, time, and the `run:` mapping."""
    tells_usage = True

    def __init__(self, run, databases):
        self.run, self.databases = run, databases
        self.rng = Random(run.file_name)
        self.turns, self.spent_in, self.spent_out, self.seconds, self.nudges = 0, 0, 0, 0.0, 0
        self.context = 700  # tokens of the system prompt with the schemas

    def pick(self, *choices):
        return self.rng.choice(choices)

    def pay(self, said):
        """One reply of the model: everything so far goes in, `said` and some thinking come out."""
        thought = 0 if self.run.model == "claude" else self.rng.randrange(180, 1500) * (2 if self.run.model == "o1" else 1)
        out = sum(tokens(part) for part in said) + thought
        self.turns += 1
        self.spent_in += self.context
        self.spent_out += out
        self.context += out - thought
        self.seconds += 0.6 + self.rng.random() * 1.8 + out / MODELS[self.run.model][3]

    def facts(self):
        name, price_in, price_out, _ = MODELS[self.run.model]
        place = self.rng.randrange(0, 3 * 600)
        started = FIRST_DAY + timedelta(days=place // 600, minutes=place % 600, seconds=self.rng.randrange(60))
        cost = (self.spent_in * price_in + self.spent_out * price_out) / 1e6
        nudges = {"nudges": self.nudges} if self.nudges else {}
        usage = {"usage": {"input_tokens": self.spent_in, "output_tokens": self.spent_out}, "cost": round(cost, 5)}
        return {
            "sample": True, "note": NOTE, "system": self.run.system, "model": self.run.model, "model_id": name,
            "started": moment(started), "finished": moment(started + timedelta(seconds=self.seconds)), "turns": self.turns,
            **(usage if self.tells_usage else {}), **nudges, "version": "0.1.0",
        }


def habit(sql, model):
    """Everybody writes SQL in a way of their own."""
    if model == "o1":
        return " ".join(sql.split())
    return KEYWORDS.sub(lambda hit: hit[0].lower(), sql) if model == "o3-mini" else sql


def moment(value):
    return value.isoformat(timespec="milliseconds") + "Z"


class Conversation(Recorder):
    """A tool-calling run."""

    def __init__(self, run, databases):
        super().__init__(run, databases)
        self.items = []

    def user(self, text):
        self.items.append({"user_message": text})
        self.context += tokens(text)

    def look_around(self):
        """Some agents begin with a glance at what is there."""
        if self.run.model == "claude" and self.rng.random() < 0.4:
            self.turn(self.pick("Let me first see how much data there is and which days it covers.", "Before the real question, a quick look at the tickets."),
                      (S, {"sql": "SELECT count(*) AS tickets, min(created_at) AS first, max(created_at) AS last FROM tickets"}))

    def turn(self, text, *calls):
        """One assistant turn: a message, tool calls, or both. Gives the results of the calls."""
        calls = [(name, {key: habit(value, self.run.model) if key == "sql" else value for key, value in params.items()}) for name, params in calls]
        if text:
            self.items.append({"assistant_message": text})
        self.pay([text or ""] + [params for _, params in calls])
        unfinished = self.run.outcome == "unfinished call" and any(name == self.run.stop_at for name, _ in calls)
        results = [self.call(name, params, unfinished) for name, params in calls]
        if unfinished:
            raise Stop
        return results

    def call(self, name, params, unfinished=False):
        prefix = "toolu_" if self.run.model == "claude" else "call_"
        code = prefix + "".join(self.rng.choice("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(20))
        call = {"id": code, "name": name, "params": params}
        self.items.append({"tool_call": call})
        rows = None
        if not unfinished:
            rows = self.answer_call(call, name, params)
        call["turn"] = self.turns
        return rows

    def answer_call(self, call, name, params):
        self.seconds += 0.02 + self.rng.random() * 0.2
        if name == "execute_python_program":
            out, trace = run_program(params["pythonCode"], {})
            call["result"] = {"stdout": out, "stderr": trace or "", "exit_code": 1 if trace else 0, "timed_out": False}
        else:
            try:
                call["result"] = self.databases.tool(name, params["sql"])
            except Exception as fault:
                call["error"] = str(fault)
        self.context += tokens(call.get("result", call.get("error")))
        return call.get("result")

    def says(self, text):
        """How talkative the made-up agent is: some call tools without a word."""
        if self.run.model == "claude" or text is None:
            return text
        return text if self.rng.random() < (0.25 if self.run.model == "o1" else 0.5) else None

    def ask(self, tool, sql, text=None, broken=None):
        """One SQL call in a turn of its own; when the plan wants a failed call, a broken form of it first."""
        if broken and "failed SQL" in self.run.features and not any("error" in item.get("tool_call", {}) for item in self.items):
            self.turn(self.says(text), (tool, {"sql": broken}))
            fault = self.items[-1]["tool_call"]["error"]
            text = self.pick(f"That failed: {fault}. Let me look at the schema again and correct the query.",
                             f"The database says `{fault}`. I used the wrong name; second try.")
        rows, = self.turn(self.says(text), (tool, {"sql": sql}))
        self.pause(tool)
        return rows

    def pair(self, text, first, second):
        """Two calls that do not need each other: in one turn when the plan says parallel."""
        if "parallel calls" in self.run.features:
            results = self.turn(self.says(text), *((tool, {"sql": sql}) for tool, sql in (first, second)))
            self.pause(second[0])
            return results
        return [self.ask(first[0], first[1], text), self.ask(second[0], second[1])]

    def pause(self, tool):
        """After the tool named in the plan: the provider fails, or the agent stops early."""
        if tool != self.run.stop_at:
            return
        if self.run.outcome == "error":
            self.items.append({"error": self.run.text})
            self.seconds += self.run.options["lost"]
            raise Stop
        if "missing tool call" in self.run.features:
            raise Stop
        while self.run.early:
            self.nudge(self.run.early.pop(0))

    def nudge(self, text):
        """The agent stops too early, and is told which tools it never called."""
        called = [item["tool_call"]["name"] for item in self.items if "tool_call" in item]
        missing = [name for name in self.run.task.tools if name not in called]
        if not missing:
            return
        self.turn(text)
        self.user(f"actually use the {', '.join(missing)} tools to get the answer")
        self.nudges += 1
        if self.run.outcome == "waiting":
            raise Stop

    def program(self, code, text=None, broken=None):
        """Runs a program and gives what it printed, read as JSON."""
        if broken and "failed program" in self.run.features:
            result, = self.turn(self.says(text), ("execute_python_program", {"pythonCode": broken}))
            assert result["exit_code"] == 1, f"{self.run.file_name}: the broken program works"
            fault = result["stderr"].splitlines()[-1]
            text = self.pick(f"The program stopped with `{fault}`. I handle that case and run it again.", f"`{fault}` – my mistake, fixed below.")
        result, = self.turn(self.says(text), ("execute_python_program", {"pythonCode": code}))
        assert result["exit_code"] == 0, result
        self.pause("execute_python_program")
        return json.loads(result["stdout"])

    def value(self, answer):
        found = {} if answer is None else {"answer": answer}
        return {"run": self.facts(), "conversation": self.items, **found}


class Executor:
    """What a recorded PromptQL program sees."""

    def __init__(self, databases):
        self.databases, self.artifacts = databases, []

    def run_sql(self, sql):
        rows = self.databases.all(sql)
        print(f"run_sql: {len(rows)} row{'' if len(rows) == 1 else 's'}" + (f" ({', '.join(rows[0])})" if rows else ""))
        return rows

    def store_artifact(self, identifier, title, kind, value):
        self.artifacts.append({"identifier": identifier, "title": title, "artifact_type": kind, "data": value})
        size = f", {len(value)} rows" if isinstance(value, list) else ""
        print(f"stored {kind} artifact '{identifier}'{size}")

    @staticmethod
    def print(value):
        print(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


class Request(Recorder):
    """A PromptQL run: one request, the actions in its reply, the artifacts it stored. The reply tells no tokens: unknown is not 0."""
    tells_usage = False

    def __init__(self, run, databases):
        super().__init__(run, databases)
        self.actions, self.executor, self.failure = [], Executor(databases), None

    def act(self, message=None, plan=None, code=None):
        self.pay([message or "", plan or "", code or ""])
        out = trace = None
        if code:
            self.seconds += 0.3 + self.rng.random()
            out, trace = run_program(code, {"executor": self.executor})
            self.context += tokens(out)
        self.actions.append({"message": message, "plan": plan, "code": code, "code_output": out or None, "code_error": trace})
        return trace

    def value(self, _answer):
        found = [item["data"] for item in self.executor.artifacts if item["identifier"] == self.run.task.artifact]
        if self.failure:
            return {"run": self.facts(), "error": self.failure}
        thread = "".join(self.rng.choice("0123456789abcdef") for _ in range(32))
        output = {"thread_id": f"{thread[:8]}-{thread[8:12]}-4{thread[13:16]}-8{thread[17:20]}-{thread[20:]}",
                  "assistant_actions": self.actions, "modified_artifacts": self.executor.artifacts}
        return {"run": self.facts(), "output": output, **({"answer": found[-1]} if found else {})}
