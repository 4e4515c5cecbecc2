/** Processors whose numbers of system calls are known here, as `process.arch` names them. */
export type FilterArch = 'x64' | 'arm64';

/** Numbers as in the kernel's tables; undefined where the processor's table does not have the call. */
type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

/** What an argument has to be: one of these values, or a number with all of these bits. Its lower 32 bits are looked at. */
export type ArgumentRule = { argument: number } & ({ oneOf: readonly number[] } | { withBits: number });

export interface AllowedSyscall {
  number: number;
  /** Absent: whatever its arguments are. */
  rule?: ArgumentRule;
}

/**
 * What a process needs once it has started: memory, threads, clocks, and to wait for and use the files that it has open. Nothing here
 * opens a file or a socket, starts a program or a process, or looks at another. Those used most come first.
 */
const ALLOWED: Record<string, Numbers> = {
  futex: [202, 98],
  read: [0, 63],
  write: [1, 64],
  epoll_pwait: [281, 22],
  epoll_wait: [232, undefined],
  getrusage: [98, 165],
  clock_gettime: [228, 113],
  madvise: [28, 233],
  mprotect: [10, 226],
  mmap: [9, 222],
  munmap: [11, 215],
  mremap: [25, 216],
  brk: [12, 214],
  pkey_mprotect: [329, 288],
  pkey_alloc: [330, 289],
  pkey_free: [331, 290],
  writev: [20, 66],
  readv: [19, 65],
  epoll_ctl: [233, 21],
  poll: [7, undefined],
  ppoll: [271, 73],
  close: [3, 57],
  fstat: [5, 80],
  fsync: [74, 82],
  sched_yield: [24, 124],
  nanosleep: [35, 101],
  clock_nanosleep: [230, 115],
  clock_getres: [229, 114],
  gettimeofday: [96, 169],
  getrandom: [318, 278],
  getpid: [39, 172],
  gettid: [186, 178],
  getcpu: [309, 168],
  sched_getaffinity: [204, 123],
  sched_getparam: [143, 121],
  sched_getscheduler: [145, 120],
  membarrier: [324, 283],
  rseq: [334, 293],
  set_robust_list: [273, 99],
  rt_sigaction: [13, 134],
  rt_sigprocmask: [14, 135],
  rt_sigreturn: [15, 139],
  sigaltstack: [131, 132],
  restart_syscall: [219, 128],
  exit: [60, 93],
  exit_group: [231, 94],
};

const CLONE: Numbers = [56, 220];
const CLONE_THREAD = 0x1_00_00;
const PRCTL: Numbers = [157, 167];
/** Names of threads and of memory. */
const PRCTL_NAMES = [15, 16, 0x53_56_4d_41];
const FCNTL: Numbers = [72, 25];
/** Flags of descriptors, and of what they lead to. */
const FCNTL_FLAGS = [1, 2, 3, 4];
const KILL: Numbers = [62, 129];
const TGKILL: Numbers = [234, 131];

export const SECCOMP: Record<FilterArch, number> = { x64: 317, arm64: 277 };
export const SOCKET: Record<FilterArch, number> = { x64: 41, arm64: 198 };

/**
 * What neither Node, the bundler nor a program that confines them has a use for: other processes' memory, keys of the kernel, its modules,
 * file systems and programs, and rings, in which calls pass by every filter.
 */
const REFUSED: Record<string, Numbers> = {
  io_uring_setup: [425, 425],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  open_by_handle_at: [304, 265],
  setns: [308, 268],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  swapon: [167, 224],
  reboot: [169, 142],
  acct: [163, 89],
  syslog: [103, 116],
  iopl: [172, undefined],
  ioperm: [173, undefined],
};

/** Reading what is in a folder. */
const LIST: Numbers[] = [
  [217, 61],
  [78, undefined],
];

/** Undefined where nothing is known of the system or its processor. */
export function filterArch(): FilterArch | undefined {
  const { platform, arch } = process;
  return platform === 'linux' && (arch === 'x64' || arch === 'arm64') ? arch : undefined;
}

/** What no child of the starter needs. */
export function refusedSyscalls(arch: FilterArch): number[] {
  return Object.values(REFUSED).flatMap((numbers) => numberOf(numbers, arch) ?? []);
}

export function listingSyscalls(arch: FilterArch): number[] {
  return LIST.flatMap((numbers) => numberOf(numbers, arch) ?? []);
}

/** What is left to the process of that id. */
export function allowedSyscalls(arch: FilterArch, pid: number): AllowedSyscall[] {
  const own: ArgumentRule = { argument: 0, oneOf: [pid] };
  const bounded: [Numbers, ArgumentRule][] = [
    [CLONE, { argument: 0, withBits: CLONE_THREAD }],
    [PRCTL, { argument: 0, oneOf: PRCTL_NAMES }],
    [FCNTL, { argument: 1, oneOf: FCNTL_FLAGS }],
    [KILL, own],
    [TGKILL, own],
  ];
  const calls = Object.values(ALLOWED).map((numbers) => ({ number: numberOf(numbers, arch) }));
  const all = [...calls, ...bounded.map(([numbers, rule]) => ({ number: numberOf(numbers, arch), rule }))];
  return all.filter((call): call is AllowedSyscall => call.number !== undefined);
}

function numberOf([x64, arm64]: Numbers, arch: FilterArch): number | undefined {
  return arch === 'x64' ? x64 : arm64;
}
