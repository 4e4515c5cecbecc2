// os: Native code that asks which processes there are, by their clocks, cores and futexes, or that takes memory which counts for nobody.
import { expect, it } from 'vitest';
import { attackNatively } from '../../support/hostile-native.ts';
import { hostile } from '../../support/hostile.ts';

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
