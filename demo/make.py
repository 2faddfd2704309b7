#!/usr/bin/env python3
"""Makes the demo: two databases, six tasks, recorded runs. The same every time.

    python3 demo/make.py           writes everything below demo/ that is not a program
    python3 demo/make.py --check   makes it again elsewhere and fails when anything differs or does not hold
"""
import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
from make import check, everything  # noqa: E402  (the folder make/, found through the line above)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when the files here are not what would be made")
    arguments = parser.parse_args()
    if not arguments.check:
        return check.folder(HERE, everything.write(HERE))
    with tempfile.TemporaryDirectory() as fresh:
        recorded = everything.write(Path(fresh))
        return check.same(Path(fresh), HERE) or check.folder(HERE, recorded)


if __name__ == "__main__":
    sys.exit(main())
