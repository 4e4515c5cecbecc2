import { describe, expect, it } from 'vitest';
import { attackNatively } from '../../support/hostile-native.ts';
import { hostile } from '../../support/hostile.ts';

// os: Native code in a sandbox process that asks the kernel for files, sockets, programs,
// processes and other ways in.
describe('native-code-in-a-process', () => {
  const world = hostile();
  const isX64 = process.arch === 'x64';

  /** Numbers of the processor that this runs on. */
  const number = (x64: number, arm64: number) => (isX64 ? x64 : arm64);
  const AT_FDCWD = -100;
  const ENOSYS = 38;

  const ATTACKS = `{
  harmless: {
    socket: () => call(${number(41, 198)}, 1, 1, 0, 0),
    openat: () => callOnPath(${number(257, 56)}, ${AT_FDCWD}, '/', 0, 0),
    dup: () => call(${number(32, 23)}, 3, 0, 0, 0),
    getppid: () => call(${number(110, 173)}, 0, 0, 0, 0),
  },
  harmful: {
    connect: () => call(${number(42, 203)}, 3, 0, 0, 0),
    fork: () => call(${number(56, 220)}, 17, 0, 0, 0),
    clone3: () => call(435, 0, 0, 0, 0),
    execve: () => callOnPath(${number(322, 281)}, ${AT_FDCWD}, '/bin/true', 0, 0),
    ptrace: () => call(${number(101, 117)}, 0, 0, 0, 0),
    process_vm_readv: () => call(${number(310, 270)}, SELF, 0, 0, 0),
    kill_others: () => call(${number(62, 129)}, -1, 0, 0, 0),
    tgkill_others: () => call(${number(234, 131)}, 1, 1, 0, 0),
    pidfd_open: () => call(434, 1, 0, 0, 0),
    prctl_dumpable: () => call(${number(157, 167)}, 4, 1, 0, 0),
    seccomp: () => call(${number(317, 277)}, 2, 0, 0, 0),
    unshare: () => call(${number(272, 97)}, 0x10000000, 0, 0, 0),
    setns: () => call(${number(308, 268)}, 3, 0, 0, 0),
    mount: () => call(${number(165, 40)}, 0, 0, 0, 0),
    io_uring_setup: () => call(425, 8, 0, 0, 0),
    io_uring_enter: () => call(426, 3, 0, 0, 0),
    bpf: () => call(${number(321, 280)}, 0, 0, 0, 0),
    perf_event_open: () => call(${number(298, 241)}, 0, 0, 0, 0),
    userfaultfd: () => call(${number(323, 282)}, 0, 0, 0, 0),
    keyctl: () => call(${number(250, 219)}, 0, 0, 0, 0),
    shmget: () => call(${number(29, 194)}, 0, 4096, 0o1600, 0),
    ioctl: () => call(${number(16, 29)}, 3, 0x5412, 0, 0),
    setuid: () => call(${number(105, 146)}, 0, 0, 0, 0),
    chmod: () => callOnPath(${number(268, 53)}, ${AT_FDCWD}, '/tmp', 0o777, 0),
    unlink: () => callOnPath(${number(263, 35)}, ${AT_FDCWD}, '/tmp/nothing', 0, 0),
    sendmsg: () => call(${number(46, 211)}, 3, 0, 0, 0),
    no_such_call: () => call(100_000, 0, 0, 0, 0),
  },
}`;

  it.runIf(process.platform === 'linux')('is told that the kernel has no such calls', async () => {
    const { layers, before, after } = await world.unharmed(() => attackNatively(ATTACKS));
    expect(layers).toContainEqual(expect.objectContaining({ layer: 'syscalls', active: true }));
    // They work where nothing filters them.
    expect([...new Set(Object.values(before))]).toEqual(['done']);
    const allowed = Object.entries(after).filter(([, outcome]) => outcome !== ENOSYS);
    expect(allowed).toEqual([]);
    expect(Object.keys(after).length).toBeGreaterThan(30);
  });
});

// os: Native code that looks for processes by their clocks, cores and futexes, or that takes memory
// which is counted for no process.
describe('native-code-that-looks-around', () => {
  const world = hostile();
  const isX64 = process.arch === 'x64';

  /** Numbers of the processor that this runs on. */
  const number = (x64: number, arm64: number) => (isX64 ? x64 : arm64);
  const ENOSYS = 38;

  /**
   * CPU clock that covers all threads of a process, as the kernel derives it from its id
   * (`MAKE_PROCESS_CPUCLOCK` with `CPUCLOCK_SCHED`).
   */
  const CLOCK = '((~OTHER << 3) | 2)';
  /**
   * A try to lock what the other one is said to hold: "try again" or "not permitted" where there is
   * such a one, "no such process" where not.
   */
  const isHeld = (operation: number) =>
    `() => (word.writeInt32LE(OTHER), withMemory(${number(202, 98)}, word, ${operation}, 0, 0) === -1 && [1, 11].includes(koffi.exports.errno()) ? 0 : -1)`;

  const ATTACKS = `(() => {
  const OTHER = process.ppid;
  // Beyond the largest id that there may be.
  const NOBODY = 2 ** 22;
  const tellsApart = (ask) => ask(OTHER) === ask(NOBODY) ? call(100_000, 0, 0, 0, 0) : 0;
  const memory = Buffer.alloc(1_024);
  const word = Buffer.alloc(8);
  const withMemory = libc.func('long syscall(long number, void *a, long b, long c, long d)');
  const withSecond = libc.func('long syscall(long number, long a, void *b, long c, long d)');
  const withThird = libc.func('long syscall(long number, long a, long b, void *c, long d)');
  const map = libc.func('long syscall(long number, long a, long b, long c, long flags, long e, long f)');
  return {
    harmless: {
      own_clock: () => withSecond(${number(228, 113)}, 0, memory, 0, 0),
      own_clock_with_more_bits: () => withSecond(${number(228, 113)}, 2 ** 32 + 3, memory, 0, 0),
      own_clock_of_the_thread: () => withSecond(${number(228, 113)}, 3, memory, 0, 0),
      own_clock_since_the_start: () => withSecond(${number(229, 114)}, 7, memory, 0, 0),
      own_rest: () => (memory.fill(0), withThird(${number(230, 115)}, 1, 0, memory, 0)),
      own_cores: () => withThird(${number(204, 123)}, 0, 1_024, memory, 0),
      own_cores_by_id: () => withThird(${number(204, 123)}, SELF, 1_024, memory, 0),
      own_policy: () => call(${number(145, 120)}, 0, 0, 0, 0),
      own_policy_by_any_id: () => call(${number(145, 120)}, OTHER, 0, 0, 0),
      own_memory: () => map(${number(9, 222)}, 0, 4_096, 3, 0x22, -1, 0),
      own_wake: () => withMemory(${number(202, 98)}, word, 129, 1, 0),
      clock: () => withSecond(${number(228, 113)}, ${CLOCK}, memory, 0, 0),
      clock_without_sign: () => withSecond(${number(228, 113)}, ${CLOCK} >>> 0, memory, 0, 0),
      clock_with_more_bits: () => withSecond(${number(228, 113)}, (${CLOCK} >>> 0) + 2 ** 32, memory, 0, 0),
      clock_step: () => withSecond(${number(229, 114)}, ${CLOCK}, memory, 0, 0),
      clock_rest: () => (memory.fill(0), withThird(${number(230, 115)}, ${CLOCK}, 0, memory, 0)),
      cores: () => withThird(${number(204, 123)}, OTHER, 1_024, memory, 0),
      cores_with_more_bits: () => withThird(${number(204, 123)}, 2 ** 32 + OTHER, 1_024, memory, 0),
      policy: () => tellsApart((pid) => call(${number(145, 120)}, pid, 0, 0, 0)),
      priority: () => tellsApart((pid) => withSecond(${number(143, 121)}, pid, memory, 0, 0)),
      futex: ${isHeld(8)},
      private_futex: ${isHeld(8 | 128)},
      shared_memory: () => map(${number(9, 222)}, 0, 4_096, 3, 0x21, -1, 0),
    },
    harmful: {
      validated_shared_memory: () => map(${number(9, 222)}, 0, 4_096, 3, 0x23, -1, 0),
    },
  };
})()`;

  it.runIf(process.platform === 'linux')('is told of no process but its own, whose clocks it keeps', async () => {
    const { layers, before, after } = await world.unharmed(() => attackNatively(ATTACKS));
    expect(layers).toContainEqual(expect.objectContaining({ layer: 'syscalls', active: true }));
    // Without a filter these calls succeed, for processes of any user.
    expect(Object.entries(before).filter(([, outcome]) => outcome !== 'done')).toEqual([]);
    const names = Object.keys(after);
    const own = names.filter((name) => name.startsWith('own_'));
    const expected = names.map((name) => [name, own.includes(name) ? 'done' : ENOSYS]);
    expect(after).toEqual(Object.fromEntries(expected));
    expect(own.length).toBeGreaterThan(5);
  });
});
