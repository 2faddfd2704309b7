#!/usr/bin/env python3
"""Reads files that `touchstone convert` wrote with the packages that own the formats. The tests ask it.

Usage:
  scripts/export-peer.py inspect DIR    needs the package inspect_ai: read_eval_log
  scripts/export-peer.py atif DIR       needs the package harbor (pydantic is enough beside it): its validator of trajectories

Writes a line of JSON for each file of the directory, sorted by name, with what was read or with "errors". Ends with 3 and a sentence
where a package is missing.
"""
import json
import pathlib
import sys

MISSING = 3


def read_inspect(path):
    log = read_eval_log(str(path))
    samples = []
    for sample in log.samples or []:
        calls = [call for message in sample.messages for call in getattr(message, "tool_calls", None) or []]
        samples.append(
            {
                "id": str(sample.id),
                "epoch": sample.epoch,
                "target": sample.target,
                "roles": [message.role for message in sample.messages],
                "texts": [message.text for message in sample.messages if message.role in ("user", "assistant")],
                "calls": [call.function for call in calls],
                "failed": sum(1 for message in sample.messages if message.role == "tool" and message.error),
                "answer": sample.output.completion,
                "error": sample.error.message if sample.error else None,
                "limit": sample.limit is not None,
                "scores": sorted(sample.scores or {}),
                "total_tokens": sum(usage.total_tokens for usage in sample.model_usage.values()),
            }
        )
    return {"status": log.status, "task": log.eval.task, "model": log.eval.model, "samples": samples}


def read_atif(path):
    validator = TrajectoryValidator()
    if not validator.validate(path):
        return {"errors": validator.get_errors()}
    trajectory = Trajectory(**json.loads(path.read_text()))
    steps = trajectory.steps
    results = [result for step in steps if step.observation for result in step.observation.results]
    return {
        "version": trajectory.schema_version,
        "texts": [step.message for step in steps if step.source != "system" and step.message],
        "calls": [call.function_name for step in steps for call in step.tool_calls or []],
        "results": sum(1 for result in results if result.content is not None),
        "sub_agents": sum(len(result.subagent_trajectory_ref or []) for result in results),
        "prompt_tokens": trajectory.final_metrics.total_prompt_tokens if trajectory.final_metrics else None,
    }


def main():
    global read_eval_log, TrajectoryValidator, Trajectory
    kind, folder = sys.argv[1:]
    try:
        if kind == "inspect":
            from inspect_ai.log import read_eval_log
        else:
            from harbor.models.trajectories import Trajectory
            from harbor.utils.trajectory_validator import TrajectoryValidator
    except ImportError as why:
        print(f"{sys.executable} cannot import the package: {why}", file=sys.stderr)
        return MISSING
    read = read_inspect if kind == "inspect" else read_atif
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        try:
            line = read(path)
        except Exception as why:  # Whatever it says is a finding of the test.
            line = {"errors": [f"{type(why).__name__}: {why}"[:2000]]}
        print(json.dumps({"file": path.name} | line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
