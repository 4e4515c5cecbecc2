import type { Machine } from './machine.ts';
import { formatMachine } from './text.ts';

/** What one attack did to its neighbour. A file may have several. */
export interface HostileMeasurement {
  file: string;
  /** How often the attack was made to get enough samples. */
  rounds: number;
  /** Milliseconds from a request to the receipt of its event, of each. */
  quietMs: readonly number[];
  attackedMs: readonly number[];
}

export interface HostileReport {
  machine: Machine;
  /** All that were run. */
  files: readonly string[];
  measurements: readonly HostileMeasurement[];
}

/** The target: a neighbour's p99 during an attack is at most this many times what it is without. */
const TARGET_RATIO = 2;
const COLUMNS = ['quiet p50', 'p99', 'attacked p50', 'p99', 'ratio'];

export function formatHostile({ machine, files, measurements }: HostileReport): string {
  const rows = measurements.map(({ file, attackedMs }) => {
    const quiet = summarize(measurements.filter((other) => other.file === file).flatMap(({ quietMs }) => quietMs));
    const attacked = summarize(attackedMs);
    return { file, name: nameOf(file), quiet, attacked, ratio: attacked.p99 / quiet.p99 };
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
  for (const { file, ratio } of rows) worst.set(file, Math.max(worst.get(file) ?? 0, ratio));
  const within = [...worst.values()].filter((ratio) => ratio <= TARGET_RATIO).length;
  const unmeasured = files.filter((file) => !worst.has(file)).map(nameOf);
  return [
    formatMachine(machine),
    'neighbour, request to receipt, ms; each attack against the quiet phases of its file',
    `${'attack'.padEnd(width)}  ${COLUMNS.map((column) => column.padStart(7)).join('  ')}`,
    ...table,
    `${within} of ${worst.size} attacks leave the neighbour's p99 within ${TARGET_RATIO} times its quiet value`,
    ...(unmeasured.length === 0
      ? []
      : [`without a neighbour to measure (${unmeasured.length}): ${unmeasured.join(', ')}`]),
  ].join('\n');
}

function summarize(latenciesMs: readonly number[]): { p50: number; p99: number } {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (percent: number) => sorted[Math.max(1, Math.ceil((percent / 100) * sorted.length)) - 1] ?? 0;
  return { p50: at(50), p99: at(99) };
}

function nameOf(file: string): string {
  return file.replace(/^test\/hostile\//, '').replace(/\.test\.ts$/, '');
}
