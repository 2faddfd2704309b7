"""Times how `inspect_ai` reads a folder of its logs: `peer.py FOLDER headers|whole`. Imports are not
timed."""

import resource
import sys
import time

from inspect_ai.log import list_eval_logs, read_eval_log


def main():
    folder, kind = sys.argv[1:]
    started = time.perf_counter()
    samples = 0
    for info in list_eval_logs(folder):
        log = read_eval_log(info, header_only=kind == "headers")
        samples += len(log.samples or [])
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024
    print(f"inspect_ai: {kind} of all logs, {samples} samples: {seconds * 1_000:.1f} ms")
    print(f"  peak memory {peak} MB")


if __name__ == "__main__":
    main()
