import { expect, test } from 'vitest';
import { formatHostile } from '../../bench/src/hostile-report.ts';
import { describeMachine } from '../../bench/src/machine.ts';

const machine = describeMachine();
/** A hundred samples, the second largest being the p99. */
const samples = (p99: number): number[] => [1_000, p99, ...Array.from({ length: 98 }, () => 2)];

function measured(attack: string, ...p99s: number[]) {
  const tries = p99s.map((p99) => ({ rounds: 1, quietMs: samples(10), attackedMs: samples(p99) }));
  return { attack, tries };
}

test('an attack counts as within the target when all that was measured of it is', () => {
  const measurements = [measured('cpu/loop', 20), measured('cpu/regex', 12), measured('cpu/regex', 21)];
  const text = formatHostile({ machine, attacks: measurements.map(({ attack }) => attack), measurements });
  expect(text).toContain("1 of 2 attacks leave the neighbour's p99 within 2 times its quiet value");
  expect(text.split('\n').filter((line) => line.endsWith('!'))).toEqual([
    expect.stringMatching(/^cpu\/regex .* 2\.1 {2}!$/),
  ]);
});

test('the middle of three measurements of an attack counts', () => {
  const measurements = [measured('cpu/loop', 30, 50, 19), measured('cpu/regex', 21, 15, 12)];
  const text = formatHostile({ machine, attacks: measurements.map(({ attack }) => attack), measurements });
  expect(text).toContain('1 of 2 attacks');
  expect(text).toMatch(/cpu\/loop \* .* 30\.0 +3\.0 {2}!/);
  expect(text).toMatch(/cpu\/regex \* .* 15\.0 +1\.5$/m);
});

test('an attack that was not measured is named', () => {
  const attacks = ['cpu/loop', 'supply-chain/symlink'];
  const text = formatHostile({ machine, attacks, measurements: [measured('cpu/loop', 20)] });
  expect(text).toContain('without a neighbour to measure (1): supply-chain/symlink');
});
