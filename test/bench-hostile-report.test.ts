import { expect, test } from 'vitest';
import { formatHostile } from '../bench/src/hostile-report.ts';
import { describeMachine } from '../bench/src/machine.ts';

const machine = describeMachine();
/** A hundred samples, the second largest being the p99. */
const samples = (p99: number): number[] => [1_000, p99, ...Array.from({ length: 98 }, () => 2)];

function measured(file: string, p99: number, quietP99 = 10) {
  const [quietMs, attackedMs] = [samples(quietP99), samples(p99)];
  return { file: `test/hostile/${file}.test.ts`, rounds: 1, quietMs, attackedMs };
}

test('an attack counts as within the target when all that was measured of it is', () => {
  const measurements = [measured('cpu/loop', 20), measured('cpu/regex', 12), measured('cpu/regex', 21)];
  const text = formatHostile({ machine, files: measurements.map(({ file }) => file), measurements });
  expect(text).toContain("1 of 2 attacks leave the neighbour's p99 within 2 times its quiet value");
  expect(text.split('\n').filter((line) => line.endsWith('!'))).toEqual([
    expect.stringMatching(/^cpu\/regex .* 2\.1 {2}!$/),
  ]);
});

test('each part of an attack is compared with all quiet phases of its file', () => {
  const measurements = [measured('cpu/loop', 20, 5), measured('cpu/loop', 20, 10)];
  const text = formatHostile({ machine, files: ['test/hostile/cpu/loop.test.ts'], measurements });
  expect(text).toContain('1 of 1 attacks');
});

test('an attack that was not measured is named', () => {
  const files = ['test/hostile/cpu/loop.test.ts', 'test/hostile/supply-chain/symlink.test.ts'];
  const text = formatHostile({ machine, files, measurements: [measured('cpu/loop', 20)] });
  expect(text).toContain('without a neighbour to measure (1): supply-chain/symlink');
});
