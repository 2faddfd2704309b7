"""The README of the demo."""


def text(recorded):
    return "# The demo\n\nSample data, invented; see make.py.\n"
