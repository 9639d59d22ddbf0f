//! Filters of system calls, made from the lists.

use crate::sandbox::calls::{
    CONNECTION_CALLS, Calls, Check, DECODER_CALLS, INT, NETWORK_CALLS, OLDER_DECODER_CALLS, OLDER_NETWORK_CALLS,
    OLDER_PROCESS_CALLS, OLDER_TEMPLATE_CALLS, PROCESS_CALLS, REFUSED, Rule, TEMPLATE_CALLS, int, null, without,
};
use anyhow::{Context, Result};
use libc::{c_int, c_long, *};
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::MaskedEq;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
};

/// Restricts the calling thread, and those that it starts, to the system calls that demuxers and decoders need.
///
/// # Errors
/// When the kernel has no such filters.
pub fn answer_decoders(network: bool) -> Result<()> {
    answer(&decoder_calls(network))
}

/// Restricts the calling process, and those that it forks, to the system calls that forked processes need until they
/// restrict themselves further.
///
/// # Errors
/// When the kernel has no such filters.
pub fn answer_template(network: bool) -> Result<()> {
    answer(&template_calls(network))
}

/// Restricts the calling thread, and those that it starts, to the system calls that a run needs.
///
/// # Errors
/// When the kernel has no such filters.
pub fn answer_process(network: bool, replaces: bool) -> Result<()> {
    answer(&process_calls(network, replaces))
}

pub(super) fn answer(calls: &Calls) -> Result<()> {
    let close =
        || -> Result<(), seccompiler::Error> { programs(calls)?.iter().try_for_each(|program| apply_filter(program)) };
    close().context("--sandbox on: the kernel does not filter system calls (--sandbox auto goes on without)")
}

/// The filters that allow these calls. If two of them refuse a call, the error is that of the later one.
pub(super) fn programs(calls: &Calls) -> Result<[BpfProgram; 2], BackendError> {
    let known = calls.keys().map(|&call| (call, Vec::new()));
    let refused = REFUSED.iter().map(|&call| (call, Vec::new()));
    Ok([program(calls, EPERM)?, program(&refused.chain(known).collect(), ENOSYS)?])
}

/// The filter that allows these calls, and refuses others with this error. It ends the process at a call of another
/// architecture.
pub(super) fn program(calls: &Calls, error: c_int) -> Result<BpfProgram, BackendError> {
    let condition = |check: &Check| {
        let width = if check.mask <= INT { Dword } else { Qword };
        SeccompCondition::new(check.argument, width, MaskedEq(check.mask), check.value)
    };
    let rule = |rule: &Rule| SeccompRule::new(rule.iter().map(condition).collect::<Result<_, _>>()?);
    let chain = |(&call, rules): (&c_long, &Vec<Rule>)| Ok((call, rules.iter().map(rule).collect::<Result<_, _>>()?));
    let calls = calls.iter().map(chain).collect::<Result<_, BackendError>>()?;
    let refuse = SeccompAction::Errno(error as u32);
    SeccompFilter::new(calls, refuse, SeccompAction::Allow, std::env::consts::ARCH.try_into()?)?.try_into()
}

pub(super) fn decoder_calls(network: bool) -> Calls {
    let mut calls = whole(&[DECODER_CALLS, OLDER_DECODER_CALLS, CONNECTION_CALLS]);
    calls.extend(own_process_calls(network));
    // No shared anonymous memory: shared memory comes from the program, which counts it.
    calls.insert(SYS_mmap, vec![vec![without(3, MAP_ANONYMOUS)], vec![without(3, MAP_SHARED)]]);
    if network {
        // Files can be opened for reading only; with Landlock, only files of the system.
        let changes = O_ACCMODE | O_CREAT | O_TRUNC;
        calls.insert(SYS_openat, vec![vec![without(2, changes)]]);
        #[cfg(target_arch = "x86_64")]
        calls.insert(SYS_open, vec![vec![without(1, changes)]]);
    }
    calls
}

pub(super) fn template_calls(network: bool) -> Calls {
    let mut calls = decoder_calls(network);
    calls.extend(whole(&[TEMPLATE_CALLS, OLDER_TEMPLATE_CALLS]));
    calls.insert(SYS_socketpair, vec![vec![int(0, AF_UNIX.into())]]);
    // Any ID, because those of decoding processes and their threads are not known yet.
    for call in [SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_sched_getparam, SYS_sched_getscheduler] {
        calls.insert(call, Vec::new());
    }
    calls.entry(SYS_prctl).or_default().push(vec![int(0, PR_SET_PDEATHSIG.into())]);
    // Reading a folder lists open descriptors on kernels without close_range.
    let changes = O_ACCMODE | O_CREAT | O_TRUNC;
    calls.insert(SYS_openat, vec![vec![without(2, changes)]]);
    calls
}

pub(super) fn process_calls(network: bool, replaces: bool) -> Calls {
    let mut calls = whole(&[DECODER_CALLS, OLDER_DECODER_CALLS, PROCESS_CALLS, OLDER_PROCESS_CALLS]);
    // Forbids to create files with the setuid or setgid bit: whoever runs such a file has the rights of its owner.
    let (makes, rights) = (O_CREAT | O_TMPFILE & !O_DIRECTORY, 0o7000);
    calls.insert(SYS_openat, vec![vec![without(2, makes)], vec![without(3, rights)]]);
    #[cfg(target_arch = "x86_64")]
    calls.extend([
        (SYS_open, vec![vec![without(1, makes)], vec![without(2, rights)]]),
        (SYS_creat, vec![vec![without(1, rights)]]),
    ]);
    calls.extend(own_process_calls(network));
    calls.extend(whole(&[CONNECTION_CALLS]));
    // Memory that is shared with decoding processes: no huge pages, and it can be sealed against shrinking.
    calls.insert(SYS_memfd_create, vec![vec![int(1, i64::from(MFD_CLOEXEC | MFD_ALLOW_SEALING))]]);
    calls.entry(SYS_fcntl).or_default().push(vec![int(1, F_ADD_SEALS.into())]);
    if replaces {
        calls.insert(SYS_fchown, Vec::new());
        calls.insert(SYS_fchmod, vec![vec![without(1, rights)]]);
    }
    // libx265 lowers the priority of its threads. Allowed only for the calling thread, 0: with another first argument,
    // 0 would be the process group.
    calls.insert(SYS_setpriority, vec![vec![int(0, PRIO_PROCESS as i64), int(1, 0)]]);
    calls
}

fn whole(lists: &[&[c_long]]) -> Calls {
    lists.iter().copied().flatten().map(|&call| (call, Vec::new())).collect()
}

/// Restrictions in both sandboxes for calls that could reach other processes: new threads, but no new processes;
/// signals to, and information about, this process only; no change of who gets signals from a descriptor; and the
/// network only if it is used.
fn own_process_calls(network: bool) -> Calls {
    let process = i64::from(std::process::id());
    let thread = CLONE_THREAD as u64;
    let spaces =
        CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
    let is_thread = Check { argument: 0, mask: thread | spaces as u64 & INT, value: thread };
    let mut calls = Calls::from([(SYS_clone, vec![vec![is_thread]])]);
    for call in [SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo] {
        calls.insert(call, vec![vec![int(0, process)]]);
    }
    // A thread asks about itself with the ID 0. The IDs of other threads are not known here.
    for call in [SYS_sched_getparam, SYS_sched_getscheduler] {
        calls.insert(call, vec![vec![int(0, 0)], vec![int(0, process)]]);
    }
    calls.insert(SYS_sched_setaffinity, vec![vec![int(0, 0)]]);
    calls.insert(SYS_getpriority, vec![vec![int(0, PRIO_PROCESS as i64), int(1, 0)]]);
    // Only to read limits: the pointer to new limits is null.
    calls.insert(SYS_prlimit64, vec![vec![int(0, 0), null(2)], vec![int(0, process), null(2)]]);
    // Options for names of threads and memory regions, and to forbid new privileges.
    let options = [PR_SET_NAME, PR_GET_NAME, PR_SET_VMA, PR_SET_NO_NEW_PRIVS];
    calls.insert(SYS_prctl, options.map(|option| vec![int(0, option.into())]).into());
    // Queries: whether a descriptor is a terminal, the terminal's size, and the number of readable bytes.
    let requests = [TCGETS as i64, TCGETS2 as i64, TIOCGWINSZ as i64, FIONREAD as i64];
    let mut ioctl: Vec<Rule> = requests.map(|request| vec![int(1, request)]).into();
    // Settings: whether calls on a descriptor block, and whether exec closes it.
    ioctl.extend([FIONBIO as i64, FIOCLEX as i64, FIONCLEX as i64].map(|request| vec![int(1, request)]));
    calls.insert(SYS_ioctl, ioctl);
    // O_ASYNC makes the kernel send signals to the receiver set by F_SETOWN.
    let mut commands = vec![vec![int(1, F_SETFL.into()), without(2, O_ASYNC)]];
    let kept = [F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_GETPIPE_SZ, F_SETPIPE_SZ, F_GET_SEALS];
    let locks = [F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW];
    commands.extend(kept.into_iter().chain(locks).map(|command| vec![int(1, command.into())]));
    calls.insert(SYS_fcntl, commands);
    if network {
        calls.extend(whole(&[NETWORK_CALLS, OLDER_NETWORK_CALLS]));
        // Only internet sockets, and netlink for the list of this machine's addresses: other sockets reach services of
        // the user.
        let kinds = [vec![int(0, AF_INET.into())], vec![int(0, AF_INET6.into())]];
        let addresses = vec![int(0, AF_NETLINK.into()), int(2, NETLINK_ROUTE.into())];
        calls.insert(SYS_socket, kinds.into_iter().chain([addresses]).collect());
        // To convert between numbers and names of network interfaces, as in the address fe80::1%eth0.
        let requests = [SIOCGIFINDEX as i64, SIOCGIFNAME as i64];
        calls.entry(SYS_ioctl).or_default().extend(requests.map(|request| vec![int(1, request)]));
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many bits the kernel reads of the arguments of calls that have rules: of an `int` 32, of a pointer and a
    /// `long` 64. Other arguments have no rules.
    const WIDTHS: &[(c_long, &[u32])] = &[
        (SYS_clone, &[32]),
        (SYS_kill, &[32]),
        (SYS_tgkill, &[32]),
        (SYS_rt_sigqueueinfo, &[32]),
        (SYS_rt_tgsigqueueinfo, &[32]),
        (SYS_sched_setaffinity, &[32]),
        (SYS_sched_getparam, &[32]),
        (SYS_sched_getscheduler, &[32]),
        (SYS_getpriority, &[32, 32]),
        (SYS_setpriority, &[32, 32]),
        (SYS_prlimit64, &[32, 32, 64]),
        (SYS_prctl, &[32]),
        (SYS_ioctl, &[32, 32]),
        (SYS_fcntl, &[32, 32, 32]),
        (SYS_openat, &[32, 64, 32, 32]),
        (SYS_memfd_create, &[64, 32]),
        (SYS_mmap, &[64, 64, 32, 32]),
        (SYS_socket, &[32, 32, 32]),
        #[cfg(target_arch = "x86_64")]
        (SYS_open, &[64, 32, 32]),
        #[cfg(target_arch = "x86_64")]
        (SYS_creat, &[64, 32]),
        (SYS_fchmod, &[32, 32]),
    ];

    const NATIVE: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };

    /// The result of a filter, as the kernel runs it.
    fn run(program: &BpfProgram, architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let mut words = vec![number, architecture, 0, 0];
        words.extend(arguments.iter().flat_map(|argument| [*argument as u32, (argument >> 32) as u32]));
        let (mut index, mut accumulator) = (0, 0);
        loop {
            let seccompiler::sock_filter { code, jt, jf, k } = program[index];
            let jump = |is: bool| usize::from(if is { jt } else { jf });
            index += 1;
            match u32::from(code) {
                code if code == BPF_LD | BPF_W | BPF_ABS => accumulator = words[k as usize / 4],
                code if code == BPF_ALU | BPF_AND | BPF_K => accumulator &= k,
                code if code == BPF_JMP | BPF_JA => index += k as usize,
                code if code == BPF_JMP | BPF_JEQ | BPF_K => index += jump(accumulator == k),
                code if code == BPF_JMP | BPF_JGT | BPF_K => index += jump(accumulator > k),
                code if code == BPF_JMP | BPF_JGE | BPF_K => index += jump(accumulator >= k),
                code if code == BPF_RET | BPF_K => return k,
                code => panic!("no filter has {code:#x}"),
            }
        }
    }

    struct Wall {
        name: &'static str,
        calls: Calls,
        programs: [BpfProgram; 2],
    }

    impl Wall {
        /// The error that a call fails with, if it does.
        fn error(&self, call: c_long, arguments: [u64; 6]) -> Option<c_int> {
            // If two filters refuse a call, the error of the later one counts.
            let answers = self.programs.iter().rev().map(|program| run(program, NATIVE, call as u32, arguments));
            let refused = answers.into_iter().find(|answer| *answer != SECCOMP_RET_ALLOW)?;
            assert_eq!(refused & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO, "{}: {call}", self.name);
            Some((refused & SECCOMP_RET_DATA) as c_int)
        }
    }

    fn walls() -> [Wall; 5] {
        let wall = |name, calls| Wall { name, programs: programs(&calls).expect("filters"), calls };
        [
            wall("inner", decoder_calls(false)),
            wall("inner, with network", decoder_calls(true)),
            wall("outer", process_calls(false, false)),
            wall("outer, where files are replaced", process_calls(false, true)),
            wall("outer, with network", process_calls(true, false)),
        ]
    }

    #[test]
    fn each_rule_reads_its_argument_as_the_kernel_does() {
        for wall in walls() {
            for (&call, rules) in wall.calls.iter().filter(|(_, rules)| !rules.is_empty()) {
                let (_, widths) = WIDTHS.iter().find(|(other, _)| *other == call).expect("the widths of the arguments");
                // Values of all rules for this argument, and values near them.
                let values = |argument: u8| {
                    let checks = rules.iter().flatten().filter(move |check| check.argument == argument);
                    let values = checks.flat_map(|check| [check.value, check.value ^ 1, check.mask, !check.mask & INT]);
                    values.chain([0, 1, 2, INT >> 1, INT])
                };
                for rule in rules {
                    let mut met = [0; 6];
                    rule.iter().for_each(|check| met[usize::from(check.argument)] = check.value);
                    assert_eq!(wall.error(call, met), None, "{}: {call}, {met:x?}", wall.name);
                    for argument in rule.iter().map(|check| check.argument) {
                        let index = usize::from(argument);
                        let with = |value| {
                            let mut arguments = met;
                            arguments[index] = value;
                            wall.error(call, arguments)
                        };
                        for low in values(argument) {
                            for high in
                                [1, 7, INT >> 1, INT].into_iter().chain(values(argument)).filter(|high| *high != 0)
                            {
                                let value = low | high << 32;
                                // A pointer or a length passes as zero alone; of an int, the kernel does not see the
                                // upper half.
                                let expected = if widths[index] == 64 { Some(EPERM) } else { with(low) };
                                assert_eq!(
                                    with(value),
                                    expected,
                                    "{}: {call}, argument {argument} {value:x}",
                                    wall.name
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_reaches_others_is_refused() {
        let (process, other) = (u64::from(std::process::id()), 1);
        let all = u64::MAX;
        let pointer = 0x7_0000_0000;
        for wall in walls() {
            for (call, arguments) in [
                (SYS_prlimit64, [0, 7, pointer, 0, 0, 0]),
                (SYS_prlimit64, [process, 7, 1, 0, 0, 0]),
                (SYS_prlimit64, [other, 7, 0, pointer, 0, 0]),
                (SYS_sched_setaffinity, [other, 8, pointer, 0, 0, 0]),
                (SYS_setpriority, [PRIO_PROCESS as u64, other, 11, 0, 0, 0]),
                (SYS_setpriority, [PRIO_PGRP as u64, 0, 11, 0, 0, 0]),
                (SYS_setpriority, [PRIO_USER as u64, 0, 11, 0, 0, 0]),
                (SYS_kill, [other, 9, 0, 0, 0, 0]),
                (SYS_kill, [0, 9, 0, 0, 0, 0]),
                (SYS_kill, [all, 9, 0, 0, 0, 0]),
                (SYS_tgkill, [other, other, 9, 0, 0, 0]),
                (SYS_fcntl, [3, F_SETOWN as u64, other, 0, 0, 0]),
                (SYS_fcntl, [3, 15, pointer, 0, 0, 0]),
                (SYS_fcntl, [3, 10, SIGTERM as u64, 0, 0, 0]),
                (SYS_fcntl, [3, F_SETFL as u64, (O_ASYNC | O_NONBLOCK) as u64, 0, 0, 0]),
                (SYS_fcntl, [3, F_SETFL as u64, O_ASYNC as u64 | all << 32, 0, 0, 0]),
                (SYS_ioctl, [2, 0x5412, pointer, 0, 0, 0]),
                (SYS_ioctl, [2, 0x5412 | 1 << 32, pointer, 0, 0, 0]),
                (SYS_ioctl, [2, 0x541c, pointer, 0, 0, 0]),
                (SYS_ioctl, [2, 0x5423, pointer, 0, 0, 0]),
                (SYS_ioctl, [2, 0x541d, pointer, 0, 0, 0]),
                (SYS_ioctl, [3, 0x5452, pointer, 0, 0, 0]),
                (SYS_clone, [SIGCHLD as u64, 0, 0, 0, 0, 0]),
                (SYS_clone, [(CLONE_THREAD | CLONE_NEWNET) as u64, 0, 0, 0, 0, 0]),
                (SYS_prctl, [PR_SET_DUMPABLE as u64, 1, 0, 0, 0, 0]),
                (SYS_fchmod, [3, 0o4755, 0, 0, 0, 0]),
                (SYS_openat, [3, pointer, (O_CREAT | O_WRONLY) as u64, 0o4755, 0, 0]),
                (SYS_openat, [3, pointer, (O_TMPFILE | O_WRONLY) as u64, 0o2755, 0, 0]),
                #[cfg(target_arch = "x86_64")]
                (SYS_open, [pointer, (O_CREAT | O_WRONLY) as u64, 0o4755, 0, 0, 0]),
                #[cfg(target_arch = "x86_64")]
                (SYS_creat, [pointer, 0o4755, 0, 0, 0, 0]),
                (SYS_execve, [0; 6]),
                (SYS_sched_setscheduler, [0; 6]),
            ] {
                assert!(wall.error(call, arguments).is_some(), "{}: {call} {arguments:x?}", wall.name);
            }
            // 469 is the last call of Linux 6.17; those from 452 on change modes and attributes.
            let names = [SYS_ptrace, SYS_process_vm_writev, SYS_fchmodat, SYS_utimensat, SYS_setxattr, SYS_fsetxattr];
            let rest = [SYS_shmget, SYS_vmsplice, SYS_mount, SYS_io_uring_setup, SYS_bpf, SYS_keyctl, SYS_pidfd_open];
            let numbers = [439, 452, 463, 466, 467, 469].into_iter().filter(|number| *number != SYS_faccessat2);
            let beyond = (470..2000).chain([0x4000_0000, 0x4000_0000 + SYS_getpid, 0x7fff_ffff, -1]);
            let unknown = names.into_iter().chain(rest).chain(numbers).chain(beyond).chain([SYS_clone3, SYS_tkill]);
            for call in unknown {
                assert_eq!(wall.error(call, [0; 6]), Some(ENOSYS), "{}: {call}", wall.name);
            }
            let i386 = run(&wall.programs[0], 0x4000_0003, SYS_getpid as u32, [0; 6]);
            assert_eq!(i386, SECCOMP_RET_KILL_PROCESS, "{}", wall.name);
        }
    }

    #[test]
    fn the_template_makes_processes_and_reaches_nothing_else() {
        for network in [false, true] {
            let calls = template_calls(network);
            let wall = Wall { name: "template", programs: programs(&calls).expect("filters"), calls };
            for call in [SYS_clone, SYS_unshare, SYS_wait4, SYS_kill, SYS_close_range] {
                assert_eq!(wall.error(call, [SIGCHLD as u64, 0, 0, 0, 0, 0]), None, "{call}");
            }
            let [local, internet] = [AF_UNIX, AF_INET].map(|kind| [kind as u64, 1, 0, 0, 0, 0]);
            assert_eq!(wall.error(SYS_socketpair, local), None);
            assert_eq!(wall.error(SYS_socket, internet).is_none(), network);
            for (call, arguments) in [
                (SYS_execve, [0; 6]),
                (SYS_openat, [3, 0x7_0000_0000, (O_CREAT | O_WRONLY) as u64, 0o600, 0, 0]),
                (SYS_socketpair, internet),
                (SYS_socket, local),
                (SYS_ptrace, [0; 6]),
                (SYS_mount, [0; 6]),
                (SYS_memfd_create, [0; 6]),
                (SYS_unlinkat, [0; 6]),
            ] {
                assert!(wall.error(call, arguments).is_some(), "{call} {arguments:x?}");
            }
        }
    }

    #[test]
    fn errors_are_those_that_libraries_go_on_after() {
        for wall in walls() {
            // Any ID is accepted, here 1, because threads may have any.
            assert_eq!(wall.error(SYS_sched_getaffinity, [1, 8, 0, 0, 0, 0]), None, "{}", wall.name);
            assert_eq!(wall.error(SYS_sched_setscheduler, [0; 6]), Some(EPERM), "{}", wall.name);
            let error = (!wall.name.ends_with("with network")).then_some(EPERM);
            let [local, internet, names] = [AF_UNIX, AF_INET, AF_NETLINK].map(|kind| [kind as u64, 1, 0, 0, 0, 0]);
            assert_eq!(wall.error(SYS_socket, internet), error, "{}", wall.name);
            assert_eq!(wall.error(SYS_socket, names), error, "{}", wall.name);
            assert_eq!(wall.error(SYS_socket, local), Some(EPERM), "{}", wall.name);
            let shared = [0, 4096, 3, (MAP_SHARED | MAP_ANONYMOUS) as u64, u64::MAX, 0];
            assert_eq!(wall.error(SYS_mmap, shared).is_some(), wall.name.starts_with("inner"), "{}", wall.name);
            let error = (wall.name != "outer, where files are replaced").then_some(ENOSYS);
            assert_eq!(wall.error(SYS_fchmod, [3, 0o644, 0, 0, 0, 0]), error, "{}", wall.name);
        }
    }
}
