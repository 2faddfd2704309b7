import os, sys

# Whatever the program that started us left open by mistake ends here: nothing that was opened outside is of use inside.
for name in os.listdir("/proc/self/fd"):
    if int(name) > 2:
        try:
            os.close(int(name))
        except OSError:
            pass  # the listing's own
# When the machine runs out of memory, this ends first.
with open("/proc/self/oom_score_adj", "w") as file:
    file.write("1000")
# A traceback shows the lines of this file.
source = sys.stdin.buffer.read()
with open("/work/program.py", "wb") as file:
    file.write(source)
# What was said before the end is kept when the program is ended.
sys.stdout.reconfigure(line_buffering=True)
sys.argv[:] = ["program.py"]


def without_this_file(kind, error, trace, show=sys.excepthook):
    inner = trace and trace.tb_next
    show(kind, error.with_traceback(inner), inner)


sys.excepthook = without_this_file
__file__ = "/work/program.py"
os.write(2, b"touchstone: the program begins\n")
del os, sys, name, file, without_this_file
exec(compile(globals().pop("source"), __file__, "exec", dont_inherit=True))
