/** Processors with known system call numbers, named as in `process.arch`. */
export type FilterArch = 'x64' | 'arm64';

/**
 * Numbers as in the kernel's tables; undefined where the processor's table does not have the call.
 */
type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

/**
 * Condition for an argument: one of these values, or a number with or without that bit. Compares
 * the lower 32 bits; the kernel reads no more of these arguments. Otherwise the call fails as
 * unknown, or with `nothing` returns 0 without effect.
 */
export type ArgumentRule = { argument: number; otherwise?: 'nothing' } & (
  | { oneOf: readonly number[] }
  | { withBit: number }
  | { withoutBit: number }
);

export interface AllowedSyscall {
  number: number;
  /** Undefined: any arguments. */
  rule: ArgumentRule | undefined;
}

/**
 * System calls of a started process: memory, threads, clocks, and use of its open files. None opens
 * a file or a socket, or starts a program or a process. With `rulesOf`, none inspects another
 * process. The most frequent come first.
 */
const ALLOWED = {
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
  clone: [56, 220],
  prctl: [157, 167],
  fcntl: [72, 25],
  kill: [62, 129],
  tgkill: [234, 131],
} as const satisfies Record<string, Numbers>;

const CLONE_THREAD = 0x1_00_00;
/** Names of threads and of memory. */
const PRCTL_NAMES = [15, 16, 0x53_56_4d_41];
/** Flags of descriptors and of their files. */
const FCNTL_FLAGS = [1, 2, 3, 4];
/**
 * Clock ids that exist for every process, up to boot time, and international atomic time. Other ids
 * contain the id of a process or thread.
 */
const CLOCKS = [0, 1, 2, 3, 4, 5, 6, 7, 11];
/** Shared memory stays while it is unmapped, and then counts for no process. */
const MAP_SHARED = 1;
/**
 * To wait and to wake. Those that lend priority take the id of a thread, and tell whether there is
 * such a one.
 */
const FUTEX_COMMANDS = [0, 1, 9, 10, 5, 4, 3];
const FUTEX_PRIVATE = 128;
const FUTEX_CLOCK_REALTIME = 256;
const FUTEX_OPERATIONS = [FUTEX_PRIVATE, FUTEX_PRIVATE | FUTEX_CLOCK_REALTIME, 0, FUTEX_CLOCK_REALTIME].flatMap(
  (flags) => FUTEX_COMMANDS.map((command) => command | flags),
);

/** Rules for the process with that id. */
function rulesOf(pid: number): Partial<Record<keyof typeof ALLOWED, ArgumentRule>> {
  const own: ArgumentRule = { argument: 0, oneOf: [pid] };
  // No filter can tell the ids of its threads from others'. glibc, asked for a thread's stack,
  // knows how to do without its cores.
  const itself: ArgumentRule = { argument: 0, oneOf: [0, pid] };
  // The mutexes of V8 ask for the priority of threads that wait, again and again until they are
  // told. It is 0, as is what glibc has for it already.
  const usual: ArgumentRule = { ...itself, otherwise: 'nothing' };
  const clock: ArgumentRule = { argument: 0, oneOf: CLOCKS };
  return {
    futex: { argument: 1, oneOf: FUTEX_OPERATIONS },
    mmap: { argument: 3, withoutBit: MAP_SHARED },
    clock_gettime: clock,
    clock_getres: clock,
    clock_nanosleep: clock,
    sched_getaffinity: itself,
    sched_getparam: usual,
    sched_getscheduler: usual,
    clone: { argument: 0, withBit: CLONE_THREAD },
    prctl: { argument: 0, oneOf: PRCTL_NAMES },
    fcntl: { argument: 1, oneOf: FCNTL_FLAGS },
    kill: own,
    tgkill: own,
  };
}

export const SECCOMP: Record<FilterArch, number> = { x64: 317, arm64: 277 };
export const SOCKET: Record<FilterArch, number> = { x64: 41, arm64: 198 };

/**
 * System calls that neither Node, the bundler nor a confining program needs. They reach other
 * processes' memory, kernel keys, modules, file systems and programs. Calls in io_uring rings
 * bypass every filter.
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

/** Calls that list a folder. */
const LIST: Numbers[] = [
  [217, 61],
  [78, undefined],
];

/** Undefined where nothing is known of the system or its processor. */
export function filterArch(): FilterArch | undefined {
  const { platform, arch } = process;
  return platform === 'linux' && (arch === 'x64' || arch === 'arm64') ? arch : undefined;
}

/** Numbers of the system calls that no child of the starter needs. */
export function refusedSyscalls(arch: FilterArch): number[] {
  return Object.values(REFUSED).flatMap((numbers) => numberOf(numbers, arch) ?? []);
}

export function listingSyscalls(arch: FilterArch): number[] {
  return LIST.flatMap((numbers) => numberOf(numbers, arch) ?? []);
}

/** System calls that the process with that id may still make. */
export function allowedSyscalls(arch: FilterArch, pid: number): AllowedSyscall[] {
  const rules: Partial<Record<string, ArgumentRule>> = rulesOf(pid);
  return Object.entries(ALLOWED).flatMap(([name, numbers]) => {
    const number = numberOf(numbers, arch);
    return number === undefined ? [] : [{ number, rule: rules[name] }];
  });
}

function numberOf([x64, arm64]: Numbers, arch: FilterArch): number | undefined {
  return arch === 'x64' ? x64 : arm64;
}
