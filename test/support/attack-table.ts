import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ATTACKS = 'test/hostile';
const DOCUMENT = 'docs/attacks.md';
const BEGIN = '<!-- Written by test/support/write-attack-table.ts -->';
const END = '<!-- The end of what is written -->';
/** A row of the table stays readable. */
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
  /** Unique within its group. */
  name: string;
  /** Its theme, relative to the root. */
  file: string;
  /** Source text of its tests. */
  code: string;
  layer: string;
  what: string;
}

/** The comment above a `describe`, and its name. */
const ATTACK = /((?:^\/\/ .*\n)*)^describe\('([^']+)'/gm;

/**
 * The attacks in the order of their groups and names, each described by the comment above its
 * `describe`. Throws naming each that has no such comment.
 */
export function readAttacks(): Attack[] {
  const names = readdirSync(path.join(ROOT, ATTACKS), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.test.ts'));
  const attacks = files.flatMap(attacksOf);
  const wrong = attacks.filter(
    ({ layer, what }) => !(LAYERS as readonly string[]).includes(layer) || what === '' || what.length > MAX_CHARS,
  );
  if (wrong.length > 0)
    throw new Error(
      `Attacks without a comment "// layer: attempt" of at most ${MAX_CHARS} characters above them:\n${wrong
        .map(({ file, name }) => `${file}: ${name}`)
        .join('\n')}`,
    );
  return attacks.toSorted((a, b) => compare(a.group, b.group) || compare(a.name, b.name));
}

function attacksOf(name: string): Attack[] {
  const text = readFileSync(path.join(ROOT, ATTACKS, name), 'utf8');
  const group = name.split(path.sep)[0] ?? '';
  const matches = [...text.matchAll(ATTACK)];
  return matches.map(({ index, 1: comment = '', 2: attack = '' }, at) => {
    const described = comment
      .replaceAll(/^\/\/ /gm, '')
      .trim()
      .replaceAll('\n', ' ');
    const [, layer = '', what = ''] = /^(\w+): (\S.*)$/.exec(described) ?? [];
    const code = text.slice(index, matches[at + 1]?.index);
    return { group, name: attack, file: `${ATTACKS}/${name}`, code, layer, what };
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
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
  const cells = attacks.map(({ name, file, layer, what }) => [
    what.replaceAll('|', '\\|').replaceAll('<', '&lt;'),
    layer,
    `[${name}](../${file})`,
  ]);
  const rows = [['attack', 'layer', 'test'], ...cells];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}
