//! Which system calls of a thread the kernel answers, by seccomp. The others fail with EPERM: a library that tries one of them
//! goes on without.

use anyhow::{Context, Result};
use libc::{c_long, *};
use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, MaskedEq};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
};
use std::collections::BTreeMap;

/// Calls by number, each with the rules one of which it has to meet; a call without a rule is answered as it is.
type Calls = BTreeMap<i64, Vec<SeccompRule>>;

/// What demuxers, decoders, allocators and threads do.
const OF_DECODERS: &[c_long] = &[
    // Open files, and places that Landlock has left open.
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_preadv,
    SYS_write,
    SYS_writev,
    SYS_lseek,
    SYS_close,
    SYS_dup,
    SYS_dup3,
    SYS_fcntl,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_fstatfs,
    SYS_statfs,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlinkat,
    SYS_getcwd,
    SYS_getdents64,
    SYS_fadvise64,
    SYS_ppoll,
    SYS_pselect6,
    SYS_pipe2,
    SYS_eventfd2,
    // Memory.
    SYS_brk,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_mincore,
    SYS_mlock,
    SYS_munlock,
    SYS_mbind,
    SYS_get_mempolicy,
    SYS_set_mempolicy,
    SYS_membarrier,
    // Threads.
    SYS_clone3,
    SYS_futex,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_exit,
    SYS_exit_group,
    SYS_restart_syscall,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_gettid,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_setaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_getpriority,
    // What the process and the system are.
    SYS_getpid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrusage,
    SYS_getcpu,
    SYS_sysinfo,
    SYS_uname,
    SYS_times,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    // What closes the walls further.
    SYS_seccomp,
    SYS_landlock_create_ruleset,
    SYS_landlock_add_rule,
    SYS_landlock_restrict_self,
];

/// Older calls, which newer systems do not have.
#[cfg(target_arch = "x86_64")]
const OLDER_OF_DECODERS: &[c_long] = &[
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_poll,
    SYS_select,
    SYS_dup2,
    SYS_pipe,
    SYS_eventfd,
    SYS_getrlimit,
    SYS_time,
    SYS_arch_prctl,
];

#[cfg(not(target_arch = "x86_64"))]
const OLDER_OF_DECODERS: &[c_long] = &[];

/// What no run does: starting programs, looking into other processes, changing the machine, and parts of the kernel that are
/// known for their errors.
const REFUSED: &[c_long] = &[
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_kcmp,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_tkill,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_move_mount,
    SYS_open_tree,
    SYS_mount_setattr,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_unshare,
    SYS_setns,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_fanotify_init,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_acct,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_personality,
    SYS_vhangup,
    // Landlock does not ask about these: of a file's metadata, a run changes only that of files that it has open.
    SYS_fchmodat,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
];

/// Older ones of this kind.
#[cfg(target_arch = "x86_64")]
const OLDER_REFUSED: &[c_long] = &[
    SYS_fork,
    SYS_vfork,
    SYS_kexec_file_load,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
    SYS__sysctl,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
];

#[cfg(not(target_arch = "x86_64"))]
const OLDER_REFUSED: &[c_long] = &[];

/// What opens connections. Those that are open stay open.
const OF_NETWORK: &[c_long] = &[SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4];

/// There is no call with this number or a higher one, but for those of x32, which repeat the others.
const NUMBERS: c_long = 512;

/// From now on, the kernel answers only what demuxers and decoders need, to the calling thread and those that it starts.
///
/// # Errors
/// When the kernel has no such filters.
pub fn answer_decoders() -> Result<()> {
    answer(of_decoders)
}

/// From now on, the kernel answers no call that a run has no use for, to the calling thread and those that it starts.
///
/// # Errors
/// When the kernel has no such filters.
pub fn answer_process(network: bool) -> Result<()> {
    answer(|| of_process(network))
}

fn answer(calls: impl FnOnce() -> Result<Calls, BackendError>) -> Result<()> {
    let close = || -> Result<(), seccompiler::Error> {
        // What flags it has is in memory, which filters do not read. The C library takes `clone` instead.
        let clone3 = Calls::from([(SYS_clone3, Vec::new())]);
        apply_filter(&program(clone3, SeccompAction::Allow, SeccompAction::Errno(ENOSYS as u32))?)?;
        apply_filter(&program(calls()?, SeccompAction::Errno(EPERM as u32), SeccompAction::Allow)?)
    };
    close().context("--sandbox on: the kernel does not filter system calls (--sandbox auto goes on without)")
}

fn program(calls: Calls, others: SeccompAction, these: SeccompAction) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(calls, others, these, std::env::consts::ARCH.try_into()?)?.try_into()
}

fn of_decoders() -> Result<Calls, BackendError> {
    let mut calls: Calls = OF_DECODERS.iter().chain(OLDER_OF_DECODERS).map(|&call| (call, Vec::new())).collect();
    calls.extend(of_own_process()?);
    // Only to read. With Landlock, only the input and the system's files can be opened.
    let changes = MaskedEq((O_ACCMODE | O_CREAT | O_TRUNC) as u64);
    calls.insert(SYS_openat, vec![when(2, changes.clone(), 0)?]);
    #[cfg(target_arch = "x86_64")]
    calls.insert(SYS_open, vec![when(1, changes, 0)?]);
    // Names of threads and of their memory.
    let named = [PR_SET_NAME, PR_GET_NAME, PR_SET_VMA, PR_SET_NO_NEW_PRIVS];
    let named = named.into_iter().map(|option| when(0, Eq, option as u64));
    calls.insert(SYS_prctl, named.collect::<Result<_, _>>()?);
    // Whether messages go to a terminal.
    calls.insert(SYS_ioctl, vec![when(1, Eq, TCGETS)?]);
    // To learn limits, not to set them.
    calls.insert(SYS_prlimit64, vec![when(2, Eq, 0)?]);
    Ok(calls)
}

fn of_process(network: bool) -> Result<Calls, BackendError> {
    let refused =
        |call: &c_long| REFUSED.contains(call) || OLDER_REFUSED.contains(call) || !network && OF_NETWORK.contains(call);
    let mut calls: Calls = (0..NUMBERS).filter(|call| !refused(call)).map(|call| (call, Vec::new())).collect();
    calls.extend(of_own_process()?);
    Ok(calls)
}

/// New threads, but no new processes; signals to this process, but to no other.
fn of_own_process() -> Result<Calls, BackendError> {
    let thread = CLONE_THREAD as u64;
    let mut calls = Calls::from([(SYS_clone, vec![when(0, MaskedEq(thread), thread)?])]);
    for call in [SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo] {
        calls.insert(call, vec![when(0, Eq, std::process::id().into())?]);
    }
    Ok(calls)
}

fn when(argument: u8, comparison: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, Dword, comparison, value)?])
}
