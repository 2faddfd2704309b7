"""Tries what a program in the sandbox must not be able to do. The last line of its output is JSON: for each property null when it
holds, else what was found. ASKED is put before this text."""
import ctypes, errno, json, mmap, os, resource, signal, socket, sys, time

libc = ctypes.CDLL(None, use_errno=True)
found = {}


def probe(name):
    def take(look):
        try:
            found[name] = look()
        except BaseException as error:
            found[name] = f"the probe itself failed with {type(error).__name__}: {error}"

    return take


def system_call(number, *arguments):
    """The error of a system call, 0 when it worked."""
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(argument) for argument in arguments))
    return ctypes.get_errno() if result == -1 else 0


def read(path):
    with open(path, "rb") as file:
        return file.read()


def parsed(environment):
    return dict(part.split("=", 1) for part in environment.decode().split("\0") if part)


@probe("environment")
def _():
    asked = ASKED["environment"] | {"PWD": "/work"}
    seen = {name: value for name, value in os.environ.items() if name != "LC_CTYPE"}
    if seen != asked:
        return f"os.environ holds {sorted(seen)}"
    if parsed(read("/proc/self/environ")) != asked:
        return "/proc/self/environ holds more"
    if parsed(read("/proc/1/environ")) != asked:
        return "/proc/1/environ holds more"


@probe("other processes")
def _():
    if b"ready for the program" not in read("/proc/1/cmdline"):
        return "process 1 is not what looks after the program"
    processes = [name for name in os.listdir("/proc") if name.isdigit()]
    if len(processes) > 2:
        return f"{len(processes)} processes are seen"


@probe("open files")
def _():
    with os.scandir("/proc/self/fd") as entries:
        inherited = sorted(int(entry.name) for entry in entries if "/proc/" not in os.readlink(entry.path))
    if inherited != [0, 1, 2]:
        return f"{inherited} are open"


@probe("files")
def _():
    allowed = {"bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "tmp", "usr", "work"}
    more = set(os.listdir("/")) - allowed
    more |= {"etc/" + name for name in (os.listdir("/etc") if os.path.isdir("/etc") else [])} - {"etc/alternatives", "etc/ld.so.cache"}
    if more:
        return f"{sorted(more)} are seen"
    for path in ["/root", "/home", "/etc/shadow", "/etc/passwd", "/var", "/run", "/sys", *ASKED["hidden"]]:
        if os.path.lexists(path):
            return f"{path} is seen"


@probe("read-only system")
def _():
    for line in read("/proc/self/mountinfo").decode().splitlines():
        fields = line.split()
        at, options = fields[4], fields[5].split(",")
        if "nosuid" not in options:
            return f"{at} allows programs that change their user"
        is_device = os.path.exists(at) and not os.path.isdir(at)
        if "rw" in options and at not in ("/dev/pts", "/dev/shm", "/work") and not (is_device and at.startswith("/dev/")):
            return f"{at} can be written"
    for folder in ["/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/dev", "/proc", "/proc/sys/kernel"]:
        try:
            os.close(os.open(folder + "/canary", os.O_CREAT | os.O_WRONLY))
        except OSError:
            continue
        return f"{folder} can be written"
    for path in ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger"]:
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        return f"{path} can be written"


@probe("size of the work folder")
def _():
    for folder, most in [("/work", ASKED["files"]), ("/dev/shm", ASKED["shared_memory"])]:
        status = os.statvfs(folder)
        if not 0 < status.f_blocks * status.f_frsize <= most:
            return f"{folder} holds {status.f_blocks * status.f_frsize} bytes"
    held, refused = [], None
    try:
        for at in range(3):
            held.append(open(f"/work/{at}", "wb"))
            os.posix_fallocate(held[-1].fileno(), 0, ASKED["files"] // 2)
    except OSError as error:
        refused = error.errno
    finally:
        for file in held:
            file.close()
            os.unlink(file.name)
    if refused != errno.ENOSPC:
        return f"more could be written ({refused})"


@probe("devices")
def _():
    allowed = {"console", "core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero"}
    more = set(os.listdir("/dev")) - allowed
    if more:
        return f"{sorted(more)} are seen"
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return None
    return "there is a terminal"


@probe("namespaces")
def _():
    same = [name for name, host in ASKED["namespaces"].items() if os.readlink(f"/proc/self/ns/{name}") == host]
    if same:
        return f"{same} are those of the machine"


@probe("network devices")
def _():
    devices = [line.split(":")[0].strip() for line in read("/proc/net/dev").decode().splitlines()[2:]]
    if set(devices) - {"lo"}:
        return f"{devices} are seen"


def reaches(family, kind, address, say=None):
    """True when a socket could be connected."""
    try:
        with socket.socket(family, kind) as tried:
            tried.settimeout(1)
            if say is not None:
                tried.sendto(say, address)
                return False
            tried.connect(address)
            return True
    except OSError:
        return False


@probe("TCP to this machine")
def _():
    if reaches(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", ASKED["tcp"])):
        return "a port on 127.0.0.1 was reached"


@probe("ways to elsewhere")
def _():
    # Looked up instead of tried, so that a sandbox with a hole sends nothing anywhere.
    routes = [line.split()[0] for line in read("/proc/net/route").decode().splitlines()[1:]]
    if os.path.exists("/proc/net/ipv6_route"):
        routes += [line.split()[-1] for line in read("/proc/net/ipv6_route").decode().splitlines()]
    if set(routes) - {"lo"}:
        return f"there are routes by {sorted(set(routes))}"


@probe("names of hosts")
def _():
    try:
        return f"a name was found: {socket.getaddrinfo('example.com', 80)[0][4][0]}"
    except OSError:
        return None


# Whether it arrived is looked at outside.
reaches(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", ASKED["udp"]), b"canary")


@probe("unix sockets")
def _():
    if reaches(socket.AF_UNIX, socket.SOCK_STREAM, ASKED["path"]):
        return "one in a folder was reached"
    if reaches(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + ASKED["abstract"]):
        return "an abstract one was reached"


@probe("privileges")
def _():
    status = dict(line.split(":", 1) for line in read("/proc/self/status").decode().splitlines())
    if any(int(status[name], 16) for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]):
        return "there are capabilities"
    if status["NoNewPrivs"].strip() != "1":
        return "no_new_privs is not set"
    if os.getuid() != 1000 or os.getgroups() not in ([], [65534], [1000]):
        return f"the user is {os.getuid()} of {os.getgroups()}"


@probe("namespaces within")
def _():
    pid = os.fork()
    if pid == 0:
        os._exit(0 if system_call(ASKED["unshare"], 0x10000000) else 1)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        return "a user namespace could be made"


@probe("limits")
def _():
    for name, most in ASKED["limits"].items():
        soft, hard = resource.getrlimit(getattr(resource, name))
        if not (0 <= soft <= most[0] and 0 <= hard <= most[1]):
            return f"{name} is {soft} and {hard}"
    # One process without limits is enough: another that steers it has none.
    names = {"Max cpu time": "RLIMIT_CPU", "Max address space": "RLIMIT_AS", "Max file size": "RLIMIT_FSIZE"}
    names |= {"Max processes": "RLIMIT_NPROC", "Max open files": "RLIMIT_NOFILE"}
    for process in filter(str.isdigit, os.listdir("/proc")):
        lines = read(f"/proc/{process}/limits").decode().splitlines()
        hard = {line[:26].strip(): line[26:].split()[1] for line in lines[1:]}
        for shown, name in names.items():
            if hard[shown] == "unlimited" or int(hard[shown]) > ASKED["limits"][name][1]:
                return f"process {process} has {hard[shown]} for {name}"


@probe("steering processes")
def _():
    for process in filter(str.isdigit, os.listdir("/proc")):
        for name in ["mem", "oom_score_adj", "timerslack_ns", "uid_map"]:
            try:
                os.close(os.open(f"/proc/{process}/{name}", os.O_WRONLY))
            except OSError as error:
                if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT):
                    continue
                return f"/proc/{process}/{name}: {error}"
            return f"/proc/{process}/{name} can be written"


@probe("first to end")
def _():
    for process in filter(str.isdigit, os.listdir("/proc")):
        if read(f"/proc/{process}/oom_score_adj").strip() != b"1000":
            return f"process {process} is not the first to end when memory runs out"
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("0")
    except OSError:
        return None
    return "a process can change that it is the first to end when memory runs out"


@probe("memory")
def _():
    try:
        # Taken and not written to: what is held is watched from outside, too, and would end this.
        mmap.mmap(-1, ASKED["memory"], mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except (MemoryError, OSError):
        return None
    return "all of it could be taken at once"


@probe("processes")
def _():
    children = []
    try:
        while len(children) <= ASKED["processes"]:
            pid = os.fork()
            if pid == 0:
                signal.pause()
            children.append(pid)
    except BlockingIOError:
        return None
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return f"{len(children)} could be started"


if ASKED["refused"]:

    @probe("system calls")
    def _():
        status = read("/proc/self/status").decode()
        if "Seccomp:\t2" not in status:
            return "there is no filter"
        # Without a filter these fail with other errors, for -1 is nothing to any of them.
        through = [name for name, number in ASKED["refused"].items() if system_call(number, -1, -1, 0, 0, 0, 0) != errno.EPERM]
        for family in [2, 10, 16, 17, 40]:
            try:
                socket.socket(family, socket.SOCK_DGRAM).close()
            except PermissionError:
                continue
            except OSError:
                pass
            through.append(f"socket of family {family}")
        if system_call(ASKED["clone3"], 0, 0) != errno.ENOSYS:
            through.append("clone3")
        if through:
            return f"{through} are let through"


# Outside it is looked at whether this process ends with the sandbox: it keeps the output open.
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(20)
    os._exit(0)
os.wait()
print(json.dumps({"python": ".".join(map(str, sys.version_info[:3])), "found": found}))
