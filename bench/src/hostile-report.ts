import type { Machine } from './machine.ts';
import { formatMachine } from './text.ts';
import { type HostileMeasurement, middleTry, percentile, ratioOf, TARGET_RATIO } from './hostile-measurement.ts';

export interface HostileReport {
  machine: Machine;
  /** All that were run, as `cpu/sync-loop`. */
  attacks: readonly string[];
  measurements: readonly HostileMeasurement[];
}

const COLUMNS = ['quiet p50', 'p99', 'attacked p50', 'p99', 'ratio'];

export function formatHostile({ machine, attacks, measurements }: HostileReport): string {
  const rows = measurements.map((measurement) => {
    const middle = middleTry(measurement);
    const name = measurement.attack + (measurement.tries.length > 1 ? ' *' : '');
    return {
      attack: measurement.attack,
      name,
      quiet: summarize(middle.quietMs),
      attacked: summarize(middle.attackedMs),
      ratio: ratioOf(middle),
    };
  });
  const width = Math.max(6, ...rows.map(({ name }) => name.length));
  const table = rows.map(({ name, quiet, attacked, ratio }) => {
    const figures = [quiet.p50, quiet.p99, attacked.p50, attacked.p99, ratio];
    const cells = figures.map((value, at) =>
      value
        .toFixed(1)
        .padStart(COLUMNS[at]?.length ?? 0)
        .padStart(7),
    );
    return `${name.padEnd(width)}  ${cells.join('  ')}${ratio > TARGET_RATIO ? '  !' : ''}`;
  });
  const worst = new Map<string, number>();
  for (const { attack, ratio } of rows) worst.set(attack, Math.max(worst.get(attack) ?? 0, ratio));
  const within = [...worst.values()].filter((ratio) => ratio <= TARGET_RATIO).length;
  const unmeasured = attacks.filter((attack) => !worst.has(attack));
  return [
    formatMachine(machine),
    'neighbour, request to receipt, ms; each attack against its own quiet phase right before; * the middle one of three or five',
    `${'attack'.padEnd(width)}  ${COLUMNS.map((column) => column.padStart(7)).join('  ')}`,
    ...table,
    `${within} of ${worst.size} attacks leave the neighbour's p99 within ${TARGET_RATIO} times its quiet value`,
    ...(unmeasured.length === 0
      ? []
      : [`without a neighbour to measure (${unmeasured.length}): ${unmeasured.join(', ')}`]),
  ].join('\n');
}

function summarize(latenciesMs: readonly number[]): { p50: number; p99: number } {
  return { p50: percentile(latenciesMs, 50), p99: percentile(latenciesMs, 99) };
}
