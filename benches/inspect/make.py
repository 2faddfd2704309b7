"""Writes Inspect logs for the benchmark with `inspect_ai` itself: `make.py FOLDER`.

The folder gets `many` (1,418 logs of 10 samples), `wide` (one log of 1,000 samples) and `large` (one
log with a sample of 100 MB). A first log is made by an evaluation with a mock model that calls a tool;
the others are that log with other ids and other words.
"""

import json
import random
import sys
from pathlib import Path

from inspect_ai import Task, eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import tool

MANY, SAMPLES, WIDE = 1_418, 10, 1_000
LARGE = 100_000_000
WORDS = "account ticket refund invoice policy window latency carrier forecast ledger quota shard".split()
TURNS = 4


@tool
def look_up():
    async def execute(query: str) -> str:
        """Looks something up.

        Args:
            query: What is looked for.
        """
        return words(random.Random(query), 150)

    return execute


def words(dice, count):
    return " ".join(dice.choices(WORDS, k=count))


def first_log(folder, samples):
    """Evaluates samples with a mock model, which calls the tool some times and then answers."""
    outputs = []
    for number in range(samples):
        for turn in range(TURNS):
            arguments = {"query": f"{number} {turn}"}
            outputs.append(ModelOutput.for_tool_call("mockllm/model", "look_up", arguments))
        outputs.append(ModelOutput.from_content("mockllm/model", f"The answer is {number}."))
    for output in outputs:
        # Without figures the tokens are counted, for which a vocabulary is downloaded.
        output.usage = ModelUsage(input_tokens=100, output_tokens=20, total_tokens=120)
    dataset = [Sample(id=f"s{n}", input=f"Question {n}?", target=str(n)) for n in range(samples)]
    solver = [system_message("Use the tool."), use_tools(look_up()), generate()]
    task = Task(name="sums", dataset=dataset, solver=solver, scorer=includes())
    model = get_model("mockllm/model", custom_outputs=outputs)
    [log] = evaluate(task, model=model, log_dir=str(folder), display="none", max_samples=1)
    return read_eval_log(log.location)


def vary(log, number):
    """Returns the log with other ids and other words."""
    text = log.model_dump_json()
    dice = random.Random(number)
    for old in {log.eval.eval_id, log.eval.run_id, log.eval.task_id}:
        text = text.replace(old, f"{number:06}{old[6:]}")
    data = json.loads(text)
    names = {word: dice.choice(WORDS) + str(dice.randrange(1_000)) for word in WORDS}
    for sample in data["samples"]:
        text = json.dumps(sample)
        for word, name in names.items():
            text = text.replace(word, name)
        sample.clear()
        sample.update(json.loads(text.replace(sample_id(text), f"{number:06}{sample_id(text)[6:]}")))
    return EvalLog.model_validate(data)


def sample_id(text):
    return json.loads(text).get("uuid") or "-" * 22


def main():
    root = Path(sys.argv[1])
    log = first_log(root / "first", SAMPLES)
    many = root / "many"
    many.mkdir(parents=True, exist_ok=True)
    for number in range(MANY):
        write_eval_log(vary(log, number), str(many / f"2026-01-01T00-00-00_sums_{number:06}.eval"))
    wide = root / "wide"
    wide.mkdir(exist_ok=True)
    write_eval_log(first_log(root / "first", WIDE), str(wide / "2026-01-01T00-00-00_sums_wide.eval"))
    large = root / "large"
    large.mkdir(exist_ok=True)
    dice = random.Random(7)
    one = vary(log, MANY)
    sample = one.samples[0]
    message = next(m for m in sample.messages if isinstance(m, ChatMessageTool))
    count = 1_000
    length = LARGE // count // 8
    at = sample.messages.index(message)
    sample.messages[at : at + 1] = [
        message.model_copy(update={"content": f"{n} {words(dice, length)}"}) for n in range(count)
    ]
    sample.events = []
    one.samples = [sample]
    write_eval_log(one, str(large / "2026-01-01T00-00-00_sums_large.eval"))
    (root / "complete").touch()


if __name__ == "__main__":
    main()
