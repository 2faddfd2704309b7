//! **Pure.** The second layer of the sandbox: a seccomp filter of forbidden system calls, in the
//! byte format for bubblewrap. The namespaces are the first layer; each layer is verified without
//! the other.
use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};
use std::collections::BTreeMap;

/// System calls that are always refused, with the names used in reports.
pub(super) const REFUSED: &[(&str, c_long)] = &[
    // Inspecting or controlling other processes.
    ("ptrace", libc::SYS_ptrace),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("kcmp", libc::SYS_kcmp),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    // Keys of the user.
    ("keyctl", libc::SYS_keyctl),
    ("add_key", libc::SYS_add_key),
    ("request_key", libc::SYS_request_key),
    // Large, recent parts of the kernel that computations do not need.
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("io_uring_enter", libc::SYS_io_uring_enter),
    ("io_uring_register", libc::SYS_io_uring_register),
    ("bpf", libc::SYS_bpf),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("userfaultfd", libc::SYS_userfaultfd),
    ("lookup_dcookie", libc::SYS_lookup_dcookie),
    ("fanotify_init", libc::SYS_fanotify_init),
    ("name_to_handle_at", libc::SYS_name_to_handle_at),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    // Reaching other processes through sockets; socket pairs inside the program still work.
    ("connect", libc::SYS_connect),
    ("bind", libc::SYS_bind),
    ("listen", libc::SYS_listen),
    ("accept", libc::SYS_accept),
    ("accept4", libc::SYS_accept4),
    ("getpeername", libc::SYS_getpeername),
    ("getsockname", libc::SYS_getsockname),
    ("getsockopt", libc::SYS_getsockopt),
    ("setsockopt", libc::SYS_setsockopt),
    ("shutdown", libc::SYS_shutdown),
    ("sendmmsg", libc::SYS_sendmmsg),
    ("recvmmsg", libc::SYS_recvmmsg),
    // Changing the view of the file system or the namespaces.
    ("mount", libc::SYS_mount),
    ("umount2", libc::SYS_umount2),
    ("pivot_root", libc::SYS_pivot_root),
    ("chroot", libc::SYS_chroot),
    ("move_mount", libc::SYS_move_mount),
    ("open_tree", libc::SYS_open_tree),
    ("fsopen", libc::SYS_fsopen),
    ("fsconfig", libc::SYS_fsconfig),
    ("fsmount", libc::SYS_fsmount),
    ("fspick", libc::SYS_fspick),
    ("mount_setattr", libc::SYS_mount_setattr),
    ("unshare", libc::SYS_unshare),
    ("setns", libc::SYS_setns),
    // The machine itself.
    ("kexec_load", libc::SYS_kexec_load),
    ("kexec_file_load", libc::SYS_kexec_file_load),
    ("init_module", libc::SYS_init_module),
    ("finit_module", libc::SYS_finit_module),
    ("delete_module", libc::SYS_delete_module),
    ("reboot", libc::SYS_reboot),
    ("swapon", libc::SYS_swapon),
    ("swapoff", libc::SYS_swapoff),
    ("syslog", libc::SYS_syslog),
    ("acct", libc::SYS_acct),
    ("quotactl", libc::SYS_quotactl),
    ("quotactl_fd", libc::SYS_quotactl_fd),
    ("settimeofday", libc::SYS_settimeofday),
    ("clock_settime", libc::SYS_clock_settime),
    ("clock_adjtime", libc::SYS_clock_adjtime),
    ("adjtimex", libc::SYS_adjtimex),
    ("sethostname", libc::SYS_sethostname),
    ("setdomainname", libc::SYS_setdomainname),
    ("vhangup", libc::SYS_vhangup),
    ("nfsservctl", libc::SYS_nfsservctl),
    // Memory that process limits do not count.
    ("memfd_create", libc::SYS_memfd_create),
    ("memfd_secret", libc::SYS_memfd_secret),
    ("shmget", libc::SYS_shmget),
    ("msgget", libc::SYS_msgget),
    ("semget", libc::SYS_semget),
    #[cfg(target_arch = "x86_64")]
    ("iopl", libc::SYS_iopl),
    #[cfg(target_arch = "x86_64")]
    ("ioperm", libc::SYS_ioperm),
    #[cfg(target_arch = "x86_64")]
    ("modify_ldt", libc::SYS_modify_ldt),
];

const EPERM: u32 = 1;
const ENOSYS: u32 = 38;
/// The only permitted socket family: it reaches nothing but this program.
const AF_UNIX: u64 = 1;
/// Flags of `clone` that create namespaces: cgroup, uts, ipc, user, pid, net, mount.
const NAMESPACES: [u64; 7] =
    [0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000, 0x0002_0000];
/// `TIOCSTI` and `TIOCLINUX` inject input into a terminal as if it had been typed.
const TERMINAL: [u64; 2] = [0x5412, 0x541C];
/// First number of the x32 ABI, which has other numbers for the same calls and would bypass every
/// rule.
const X32: u32 = 0x4000_0000;

#[cfg(target_arch = "x86_64")]
const ARCH: Option<TargetArch> = Some(TargetArch::x86_64);
#[cfg(target_arch = "aarch64")]
const ARCH: Option<TargetArch> = Some(TargetArch::aarch64);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCH: Option<TargetArch> = None;

/// Returns the filter as `struct sock_filter[]`. Fails on an unsupported processor.
pub(super) fn filter() -> Result<Vec<u8>, String> {
    let program = program()?;
    let bytes = program.iter().flat_map(|step| {
        let [code0, code1] = step.code.to_ne_bytes();
        let [k0, k1, k2, k3] = step.k.to_ne_bytes();
        [code0, code1, step.jt, step.jf, k0, k1, k2, k3]
    });
    Ok(bytes.collect())
}

fn program() -> Result<BpfProgram, String> {
    let arch = ARCH.ok_or("there is no filter of system calls for this processor")?;
    let refuse = SeccompAction::Errno(EPERM);
    let rules = rules().map_err(|error| error.to_string())?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)
        .map_err(|error| error.to_string())?;
    let body: BpfProgram =
        filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())?;
    let mut program = before();
    program.extend(body);
    Ok(program)
}

fn rules() -> Result<BTreeMap<c_long, Vec<SeccompRule>>, seccompiler::BackendError> {
    let condition = |argument: u8, length: SeccompCmpArgLen, how: SeccompCmpOp, value: u64| {
        SeccompRule::new(vec![SeccompCondition::new(argument, length, how, value)?])
    };
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> =
        REFUSED.iter().map(|(_, number)| (*number, Vec::new())).collect();
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        rules.insert(call, vec![condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, AF_UNIX)?]);
    }
    // Python's `send` is `sendto` without an address.
    rules.insert(
        libc::SYS_sendto,
        vec![condition(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?],
    );
    let flags = NAMESPACES
        .iter()
        .map(|flag| condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(*flag), *flag));
    rules.insert(libc::SYS_clone, flags.collect::<Result<_, _>>()?);
    let typed = TERMINAL
        .iter()
        .map(|request| condition(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, *request));
    rules.insert(libc::SYS_ioctl, typed.collect::<Result<_, _>>()?);
    Ok(rules)
}

/// Returns the instructions that rules cannot express. `clone3` passes its flags by pointer,
/// therefore it fails with `ENOSYS`, and the C library falls back to `clone`. All x32 numbers are
/// refused.
fn before() -> BpfProgram {
    let step = |code: u16, jt: u8, jf: u8, k: u32| sock_filter { code, jt, jf, k };
    let (load, equal, at_least, give) = (0x20, 0x15, 0x35, 0x06);
    let errno = |number: u32| 0x0005_0000 | number;
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(u32::MAX);
    vec![
        step(load, 0, 0, 0),
        step(equal, 0, 1, clone3),
        step(give, 0, 0, errno(ENOSYS)),
        step(at_least, 0, 1, X32),
        step(give, 0, 0, errno(EPERM)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOW: u32 = 0x7fff_0000;
    const KILL: u32 = 0x8000_0000;

    /// Evaluates the filter like the kernel does.
    fn verdict(arch: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let mut seen = Vec::new();
        seen.extend(number.to_le_bytes());
        seen.extend(arch.to_le_bytes());
        seen.extend([0; 8]);
        seen.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        let program = program().unwrap();
        let (mut at, mut held) = (0, 0_u32);
        loop {
            let step = &program[at];
            at += 1;
            let jump = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
            match step.code {
                0x20 => held = u32::from_le_bytes(seen[step.k as usize..][..4].try_into().unwrap()),
                0x54 => held &= step.k,
                0x05 => at += step.k as usize,
                0x15 => at += jump(held == step.k),
                0x25 => at += jump(held > step.k),
                0x35 => at += jump(held >= step.k),
                0x06 => return step.k,
                other => panic!("step {other:#x} is not known"),
            }
        }
    }

    fn own_arch() -> u32 {
        if cfg!(target_arch = "x86_64") { 0xC000_003E } else { 0xC000_00B7 }
    }

    fn call(number: c_long, arguments: [u64; 6]) -> u32 {
        verdict(own_arch(), u32::try_from(number).unwrap(), arguments)
    }

    #[test]
    fn listed_system_calls_are_refused_and_needed_ones_allowed() {
        for (name, number) in REFUSED {
            assert_eq!(call(*number, [0; 6]), 0x0005_0001, "{name}");
        }
        for number in [
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_openat,
            libc::SYS_mmap,
            libc::SYS_execve,
            libc::SYS_recvfrom,
        ] {
            assert_eq!(call(number, [1; 6]), ALLOW, "{number}");
        }
    }

    #[test]
    fn arguments_decide_where_a_call_is_both_needed_and_dangerous() {
        let first = |value: u64| [value, 0, 0, 0, 0, 0];
        assert_eq!(call(libc::SYS_socket, first(1)), ALLOW);
        for family in [0, 2, 10, 16, 17, 40, 1 << 20] {
            assert_eq!(call(libc::SYS_socket, first(family)), 0x0005_0001, "family {family}");
            assert_eq!(call(libc::SYS_socketpair, first(family)), 0x0005_0001, "family {family}");
        }
        assert_eq!(call(libc::SYS_sendto, [3, 4, 5, 0, 0, 0]), ALLOW);
        assert_eq!(call(libc::SYS_sendto, [3, 4, 5, 0, 0xffff_0000_0000, 16]), 0x0005_0001);
        // Flags for starting a thread and a process.
        assert_eq!(call(libc::SYS_clone, first(0x003d_0f00)), ALLOW);
        assert_eq!(call(libc::SYS_clone, first(0x0120_0011)), ALLOW);
        for flag in NAMESPACES {
            assert_eq!(call(libc::SYS_clone, first(flag | 0x11)), 0x0005_0001, "flag {flag:#x}");
        }
        assert_eq!(call(libc::SYS_clone3, [0; 6]), 0x0005_0000 | ENOSYS);
        assert_eq!(call(libc::SYS_ioctl, [0, 0x5412, 0, 0, 0, 0]), 0x0005_0001);
        assert_eq!(call(libc::SYS_ioctl, [0, 0x5401, 0, 0, 0, 0]), ALLOW);
    }

    #[test]
    fn other_sets_of_numbers_are_no_way_around() {
        assert_eq!(verdict(own_arch(), X32 | 0x27, [0; 6]), 0x0005_0001);
        assert_eq!(verdict(own_arch(), u32::MAX, [0; 6]), 0x0005_0001);
        assert_eq!(verdict(0x4000_0003, 20, [0; 6]), KILL, "32-bit calls");
    }

    #[test]
    fn the_kernel_accepts_the_filter() {
        let bytes = filter().unwrap();
        assert_eq!(bytes.len() % 8, 0);
        assert!(bytes.len() / 8 < 4096, "{} steps", bytes.len() / 8);
    }
}
