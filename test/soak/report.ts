import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Figures } from './figures.ts';
import type { Promised } from './promised.ts';

export interface Report {
  title: string;
  figures: Figures;
  promises: readonly Promised[];
}

export function isClean({ promises }: Report): boolean {
  return promises.every(({ broken }) => broken.length === 0);
}

/** One table: measurements first, then counts that must be 0. */
export function formatReport(report: Report): string {
  const rows: [string, string, string][] = [
    ...report.figures.map(([name, value]): [string, string, string] => ['', name, value]),
    ...report.promises.map(({ name, broken }): [string, string, string] => [
      broken.length === 0 ? 'ok' : 'FAIL',
      name,
      String(broken.length),
    ]),
  ];
  const width = Math.max(...rows.map(([, name]) => name.length));
  const lines = rows.map(([verdict, name, value]) => `${verdict.padEnd(5)} ${name.padEnd(width)}  ${value}`);
  return [report.title, '', ...lines].join('\n');
}

const MAX_RECORDS = 2_000;

/** Writes the first records that break each promise, as JSON, one file each. */
export function writeBroken(folder: string, { promises }: Report): void {
  for (const { name, broken } of promises) {
    if (broken.length === 0) continue;
    const file = `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.json`;
    writeFileSync(path.join(folder, file), `${JSON.stringify(broken.slice(0, MAX_RECORDS), undefined, 1)}\n`);
  }
}
