import os, sys, time

# Process 1 has its filter only after it has asked to end together with what started it. Before that nothing may begin.
for _ in range(5000):
    with open("/proc/1/status", "rb") as file:
        if b"Seccomp:\t" + sys.argv[1].encode() in file.read():
            break
    time.sleep(0.001)
else:
    sys.exit("process 1 has no filter of system calls")
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
# Whoever started us is alive when the whole program arrives; else there is nobody to run it for.
os.write(2, b"touchstone: ready for the program\n")
length = int(sys.stdin.buffer.readline() or -1)
source = sys.stdin.buffer.read(max(length, 0))
if len(source) != length:
    os._exit(1)
# A traceback shows the lines of this file.
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
del os, sys, time, name, file, length, without_this_file, _
exec(compile(globals().pop("source"), __file__, "exec", dont_inherit=True))
