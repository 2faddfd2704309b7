/* Runs a program on a disk that fails as it is told, by the real calls: disk RULE... -- PROGRAM ARGUMENT...
 *
 * A rule is CALL:FILES:WHAT:FIRST:TIMES. CALL is fsync, fdatasync, write or ftruncate; FILES is a pattern that paths match; WHAT is EIO,
 * ENOSPC, EINTR, or `short`, which writes only the first half; from the FIRST call of these on, so many TIMES (0: always). Of several
 * rules for one call the first that is due holds. How often each was is printed at the end.
 *
 * The kernel asks before each such call (seccomp, user notification), so that nothing of the program has to be another one. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8, SHORT = -1 };

struct rule {
  int call, error;
  const char *files;
  unsigned long first, times, seen, done;
};

static struct rule rules[MOST];
static int count;

static void fail(const char *what) {
  perror(what);
  exit(99);
}

static int named(const char *name, const char *const *names, const int *values) {
  for (; *names; names++, values++)
    if (!strcmp(name, *names)) return *values;
  fprintf(stderr, "disk: what is %s?\n", name);
  exit(99);
}

static void read_rule(char *text) {
  static const char *const calls[] = {"fsync", "fdatasync", "write", "ftruncate", NULL};
  static const int numbers[] = {__NR_fsync, __NR_fdatasync, __NR_write, __NR_ftruncate};
  static const char *const whats[] = {"EIO", "ENOSPC", "EINTR", "short", NULL};
  static const int errors[] = {EIO, ENOSPC, EINTR, SHORT};
  struct rule *rule = &rules[count++];
  rule->call = named(strtok(text, ":"), calls, numbers);
  rule->files = strtok(NULL, ":");
  rule->error = named(strtok(NULL, ":"), whats, errors);
  rule->first = strtoul(strtok(NULL, ":"), NULL, 10);
  rule->times = strtoul(strtok(NULL, ":"), NULL, 10);
}

/* Has the kernel ask about the calls of all rules; the descriptor that it asks by is sent to the parent. */
static void ask_about_calls(int parent) {
  struct sock_filter code[MOST + 3];
  int at = 0;
  code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < count; i++, at++)
    code[at] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rules[i].call, count - i, 0);
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
  struct sock_fprog program = {.len = at, .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail("no new privileges");
  int asks = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (asks < 0) fail("seccomp");
  char byte = 0, room[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec piece = {&byte, 1};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET, part->cmsg_type = SCM_RIGHTS, part->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(part), &asks, sizeof asks);
  if (sendmsg(parent, &message, 0) != 1) fail("sendmsg");
  close(asks), close(parent);
}

static int descriptor_from(int child) {
  char byte, room[CMSG_SPACE(sizeof(int))];
  struct iovec piece = {&byte, 1};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  if (recvmsg(child, &message, 0) != 1 || !CMSG_FIRSTHDR(&message)) fail("the program was not begun");
  int asks;
  memcpy(&asks, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof asks);
  return asks;
}

/* The rule that holds for a call; none when it is to be as usual. Every rule for it is counted. */
static struct rule *due(int call, const char *path) {
  struct rule *holds = NULL;
  for (struct rule *rule = rules; rule < rules + count; rule++) {
    if (rule->call != call || fnmatch(rule->files, path, 0)) continue;
    rule->seen++;
    if (!holds && rule->seen >= rule->first && (!rule->times || rule->done < rule->times)) holds = rule;
  }
  return holds;
}

/* Writes the first half of what was to be written, by the descriptor of the program itself, so that what it writes next comes behind. */
static long write_half(const struct seccomp_notif *asked, pid_t program) {
  static char bytes[1 << 16];
  size_t length = asked->data.args[2] / 2 < sizeof bytes ? asked->data.args[2] / 2 : sizeof bytes;
  struct iovec to = {bytes, length}, from = {(void *)asked->data.args[1], length};
  int process = syscall(SYS_pidfd_open, program, 0);
  int fd = process < 0 ? -1 : syscall(SYS_pidfd_getfd, process, (int)asked->data.args[0], 0);
  if (fd < 0 || process_vm_readv(asked->pid, &to, 1, &from, 1, 0) != (ssize_t)length) fail("a short write");
  long written = write(fd, bytes, length);
  close(fd), close(process);
  return written;
}

static void answer(int asks, pid_t program) {
  struct seccomp_notif asked = {0};
  if (ioctl(asks, SECCOMP_IOCTL_NOTIF_RECV, &asked)) return;
  struct seccomp_notif_resp said = {.id = asked.id};
  char file[64], path[4096];
  snprintf(file, sizeof file, "/proc/%u/fd/%d", asked.pid, (int)asked.data.args[0]);
  ssize_t length = readlink(file, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  struct rule *rule = due(asked.data.nr, path);
  if (rule && rule->error == SHORT && asked.data.args[2] < 2) rule = NULL;
  if (!rule) {
    said.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  } else if (rule->error == SHORT) {
    rule->done++;
    said.val = write_half(&asked, program);
  } else {
    rule->done++;
    said.error = -rule->error;
  }
  ioctl(asks, SECCOMP_IOCTL_NOTIF_SEND, &said);
}

int main(int argc, char **argv) {
  int at = 1, pair[2];
  for (; at < argc && strcmp(argv[at], "--") && count < MOST; at++) read_rule(argv[at]);
  if (at + 1 >= argc || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) fail("disk RULE... -- PROGRAM");
  pid_t child = fork();
  if (!child) {
    /* Nothing goes on without whoever answers. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ask_about_calls(pair[1]);
    execv(argv[at + 1], argv + at + 1);
    fail(argv[at + 1]);
  }
  close(pair[1]);
  struct pollfd question = {descriptor_from(pair[0]), POLLIN, 0};
  while (poll(&question, 1, -1) >= 0 && !(question.revents & POLLHUP))
    if (question.revents & POLLIN) answer(question.fd, child);
  int status = 0;
  waitpid(child, &status, 0);
  for (int i = 0; i < count; i++) fprintf(stderr, "disk: rule %d held %lu times\n", i + 1, rules[i].done);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
