//! The system calls that a thread may use (seccomp): those of a list, in the program and in decoding processes. Calls
//! that are not listed fail with ENOSYS, as on a kernel without them: a C library that tries a newer call falls back to
//! an older one, and calls of future kernels are refused from the beginning. Calls that are refused for their
//! arguments, and those in [`REFUSED`], fail with EPERM.

use libc::{c_int, c_long, *};
use std::collections::BTreeMap;

/// Allowed calls by number, each with rules of which its arguments have to meet one; a call without rules is allowed
/// with any arguments.
pub(super) type Calls = BTreeMap<c_long, Vec<Rule>>;

/// A condition on arguments of a call.
pub(super) type Rule = Vec<Check>;

/// The value that the masked bits of one argument must have. The kernel reads an `int` from the lower half of the
/// argument alone, and a pointer from all of it, so the mask must cover only what the kernel reads.
#[derive(Clone, Copy)]
pub(super) struct Check {
    pub(super) argument: u8,
    pub(super) mask: u64,
    pub(super) value: u64,
}

/// The bits of a C `int`.
pub(super) const INT: u64 = 0xffff_ffff;

/// The argument, an `int`, has this value.
pub(super) fn int(argument: u8, value: i64) -> Check {
    Check { argument, mask: INT, value: value as u64 & INT }
}

/// None of these bits of an `int` is set.
pub(super) fn without(argument: u8, bits: c_int) -> Check {
    Check { argument, mask: bits as u64 & INT, value: 0 }
}

/// The argument, a pointer, is null.
pub(super) fn null(argument: u8) -> Check {
    Check { argument, mask: u64::MAX, value: 0 }
}

/// The numbers of these calls; an empty list on architectures other than x86-64, which lack them.
macro_rules! x86_64_calls {
    ($($call:ident),* $(,)?) => { &[$(#[cfg(target_arch = "x86_64")] libc::$call),*] };
}

/// Calls of demuxers, decoders, allocators and threads.
pub(super) const DECODER_CALLS: &[c_long] = &[
    // Calls on open files, and on paths that Landlock allows.
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_preadv,
    SYS_preadv2,
    SYS_write,
    SYS_writev,
    SYS_lseek,
    SYS_close,
    SYS_dup,
    SYS_dup3,
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
    // Calls that manage memory.
    SYS_brk,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_mincore,
    SYS_msync,
    SYS_mlock,
    SYS_munlock,
    SYS_mseal,
    SYS_mbind,
    SYS_get_mempolicy,
    SYS_set_mempolicy,
    SYS_membarrier,
    // Calls of threads, and for signals.
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_exit,
    SYS_exit_group,
    SYS_restart_syscall,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigsuspend,
    SYS_rt_sigpending,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_gettid,
    SYS_sched_yield,
    // Allowed for any thread ID, because libdav1d and the C library pass that of the calling thread. The call only
    // reads on which cores a thread may run.
    SYS_sched_getaffinity,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    // Facts about the process and the system.
    SYS_getpid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getresuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getresgid,
    SYS_getgroups,
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
    // Calls that close the sandbox further.
    SYS_seccomp,
    SYS_landlock_create_ruleset,
    SYS_landlock_add_rule,
    SYS_landlock_restrict_self,
];

/// Messages between the program and a process that decodes for it, on connections that both have from the beginning.
pub(super) const CONNECTION_CALLS: &[c_long] = &[SYS_sendto, SYS_sendmsg, SYS_recvfrom, SYS_recvmsg];

/// Older calls, which newer architectures do not have.
pub(super) const OLDER_DECODER_CALLS: &[c_long] = x86_64_calls![
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_poll,
    SYS_select,
    SYS_dup2,
    SYS_pipe,
    SYS_pause,
    SYS_eventfd,
    SYS_getrlimit,
    SYS_time,
    SYS_arch_prctl,
];

/// Further calls of encoders, muxers and output files. Landlock, if available, restricts the paths.
pub(super) const PROCESS_CALLS: &[c_long] = &[
    SYS_pwrite64,
    SYS_pwritev,
    SYS_pwritev2,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fsync,
    SYS_fdatasync,
    SYS_sync_file_range,
    SYS_flock,
    SYS_linkat,
    #[cfg(not(target_arch = "riscv64"))]
    SYS_renameat,
    SYS_renameat2,
    SYS_unlinkat,
    SYS_mkdirat,
    SYS_umask,
    // To wait for the end of the template process, which forks decoding processes.
    SYS_wait4,
];

/// Older versions of `PROCESS_CALLS`, which newer architectures lack.
pub(super) const OLDER_PROCESS_CALLS: &[c_long] = x86_64_calls![SYS_link, SYS_rename, SYS_unlink, SYS_mkdir, SYS_rmdir];

/// Further calls of the template that decoding processes are forked from, and of their supervisors.
pub(super) const TEMPLATE_CALLS: &[c_long] = &[
    SYS_clone,
    SYS_unshare,
    SYS_setsid,
    SYS_wait4,
    SYS_waitid,
    SYS_kill,
    SYS_pidfd_open,
    SYS_close_range,
    SYS_prlimit64,
    SYS_chroot,
    SYS_chdir,
    SYS_capget,
    SYS_capset,
];

/// Older versions of `TEMPLATE_CALLS`, which newer architectures lack.
pub(super) const OLDER_TEMPLATE_CALLS: &[c_long] = x86_64_calls![SYS_fork, SYS_setrlimit];

/// Calls for network connections.
pub(super) const NETWORK_CALLS: &[c_long] = &[
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_recvmmsg,
    SYS_shutdown,
    SYS_setsockopt,
    SYS_getsockopt,
    SYS_getsockname,
    SYS_getpeername,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
];

/// Older versions of `NETWORK_CALLS`, which newer architectures lack.
pub(super) const OLDER_NETWORK_CALLS: &[c_long] = x86_64_calls![SYS_epoll_create, SYS_epoll_wait];

/// Calls that always fail with EPERM, not ENOSYS: only at EPERM does libsvtav1 continue without real-time threads, and
/// users read that the operation is not permitted.
pub(super) const REFUSED: &[c_long] = &[
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_sched_setattr,
    SYS_execve,
    SYS_execveat,
    SYS_openat,
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
];
