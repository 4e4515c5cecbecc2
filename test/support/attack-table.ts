import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ATTACKS = 'test/hostile';
const DOCUMENT = 'docs/attacks.md';
const BEGIN = '<!-- Written by test/support/write-attack-table.ts -->';
const END = '<!-- The end of what is written -->';
const MAX_CHARS = 160;

export const LAYERS = [
  'isolate',
  'bridge',
  'process',
  'os',
  'limits',
  'fairness',
  'egress',
  'tenancy',
  'ingress',
  'builder',
  'secrets',
  'database',
] as const;

export interface Attack {
  group: string;
  /** Relative to the root. */
  file: string;
  layer: string;
  what: string;
}

/**
 * The attacks by the first lines of their files, in the order of their paths. Throws naming each
 * line that says nothing.
 */
export function readAttacks(): Attack[] {
  const names = readdirSync(path.join(ROOT, ATTACKS), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.test.ts')).toSorted();
  const wrong: string[] = [];
  const attacks = files.flatMap((name): Attack[] => {
    const [first = ''] = readFileSync(path.join(ROOT, ATTACKS, name), 'utf8').split('\n', 1);
    const [, layer = '', what = ''] = /^\/\/ (\w+): (\S.*\S)$/.exec(first) ?? [];
    const isKnown = (LAYERS as readonly string[]).includes(layer);
    if (!isKnown || first.length > MAX_CHARS) {
      wrong.push(`${name}: ${first}`);
      return [];
    }
    return [{ group: name.split(path.sep)[0] ?? '', file: `${ATTACKS}/${name}`, layer, what }];
  });
  if (wrong.length > 0) throw new Error(`Attacks that their first line does not describe:\n${wrong.join('\n')}`);
  return attacks;
}

/** The document, and what its table says now. */
export function readDocument(): { path: string; before: string; table: string; after: string } {
  const text = readFileSync(path.join(ROOT, DOCUMENT), 'utf8');
  const [before, rest] = text.split(BEGIN);
  const [table, after] = rest?.split(END) ?? [];
  if (before === undefined || table === undefined || after === undefined)
    throw new Error(`${DOCUMENT} has no place for the table of attacks`);
  return { path: path.join(ROOT, DOCUMENT), before: before + BEGIN, table: table.trim(), after: END + after };
}

/** A table for each group. */
export function writeTables(attacks: readonly Attack[]): string {
  const groups = Map.groupBy(attacks, ({ group }) => group);
  return [...groups].map(([group, of]) => `## ${group}\n\n${writeTable(of)}`).join('\n\n');
}

// Columns as wide as their widest cell, as the formatter of the repository would leave them.
function writeTable(attacks: readonly Attack[]): string {
  const cells = attacks.map(({ file, layer, what }) => {
    const name = path.basename(file).replace(/(?:\.nightly)?\.test\.ts$/, '');
    return [what.replaceAll('|', '\\|').replaceAll('<', '&lt;'), layer, `[${name}](../${file})`];
  });
  const rows = [['attack', 'layer', 'test'], ...cells];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}
