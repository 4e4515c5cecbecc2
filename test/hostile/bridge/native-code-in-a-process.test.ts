// os: Native code in a sandbox process that asks the kernel for files, sockets, programs, processes and other ways in.
import { expect, it } from 'vitest';
import { attackNatively } from '../../support/hostile-native.ts';
import { hostile } from '../../support/hostile.ts';

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
