import { expect, test } from 'vitest';
import { formatHostile } from '../bench/src/hostile-report.ts';
import { describeMachine } from '../bench/src/machine.ts';

const machine = describeMachine();
const quiet = { p50: 2, p99: 10, n: 240 };

function measured(file: string, p99: number) {
  return { file: `test/hostile/${file}.test.ts`, rounds: 1, quiet, attacked: { p50: 3, p99, n: 240 } };
}

test('an attack counts as within the target when all that was measured of it is', () => {
  const measurements = [measured('cpu/loop', 20), measured('cpu/regex', 12), measured('cpu/regex', 21)];
  const text = formatHostile({ machine, files: measurements.map(({ file }) => file), measurements });
  expect(text).toContain("1 of 2 attacks leave the neighbour's p99 within 2 times its quiet value");
  expect(text.split('\n').filter((line) => line.endsWith('!'))).toEqual([
    expect.stringMatching(/^cpu\/regex .* 2\.1 {2}!$/),
  ]);
});

test('an attack that was not measured is named', () => {
  const files = ['test/hostile/cpu/loop.test.ts', 'test/hostile/supply-chain/symlink.test.ts'];
  const text = formatHostile({ machine, files, measurements: [measured('cpu/loop', 20)] });
  expect(text).toContain('without a neighbour to measure (1): supply-chain/symlink');
});
