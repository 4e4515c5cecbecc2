import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const PAGE = await readFile(new URL('../../docs/conformance.md', import.meta.url), 'utf8');

interface Row {
  section: string;
  name: string;
  proofs: { file: string; title: string }[];
  reason: string;
}

/**
 * Rows of a page's tables. Each has the promise, then `file.test.ts`: title, one per line of the
 * cell, or the reason for its absence: `not yet: …`, `differs: …`.
 */
function readRows(page: string): Row[] {
  return page
    .split(/^## /m)
    .slice(1)
    .flatMap((part) => {
      const [section = ''] = part.split('\n');
      const lines = [...part.matchAll(/^\| (?!row |---)(.*) \|$/gm)].map(([, cells = '']) => cells);
      return lines.map((cells) => {
        const [name = '', promise = '', proof = ''] = cells.split(/(?<!\\) \| /);
        const found = proof.split('<br>').map((text) => /^`([\w/-]+\.test\.ts)`: (.+)$/.exec(text.trim()));
        const proofs = found.flatMap((match) =>
          match ? [{ file: match[1] ?? '', title: unescape(match[2] ?? '') }] : [],
        );
        const reason = /^(?:not yet|differs): (.+)$/.exec(proof.trim())?.[1] ?? '';
        const isWhole = promise.trim() !== '' && (reason !== '' || found.every((match) => match !== null));
        return { section, name: name.trim(), proofs: isWhole ? proofs : [], reason: isWhole ? reason : '' };
      });
    });
}

function unescape(cell: string): string {
  return cell.replaceAll('\\|', '|').trim();
}

/**
 * The titles of tests, and of groups of them, in a test file; of `test.each` as they are written,
 * with their place-holders.
 */
async function titlesOf(file: string): Promise<Set<string>> {
  const text = await readFile(new URL(`../${file}`, import.meta.url), 'utf8');
  const calls = text.matchAll(
    /(?:\b(?:test|it|describe)(?:\.\w+)*|\))\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`([^`]*)`),\s/g,
  );
  return new Set(
    [...calls].map(([, single, double, back]) => (single ?? double ?? back ?? '').replaceAll(/\\(.)/g, '$1')),
  );
}

/** Faults of rows: no test and no reason, or a test that its file does not contain. */
async function faultsOf(rows: readonly Row[]): Promise<string[]> {
  const files = new Map<string, Set<string>>();
  const faults: string[] = [];
  for (const { section, name, proofs, reason } of rows) {
    if (proofs.length === 0 && reason === '') faults.push(`${section} ${name}: neither a test nor a reason`);
    for (const { file, title } of proofs) {
      const titles = files.get(file) ?? (await titlesOf(file).catch(() => undefined));
      if (titles === undefined) faults.push(`${section} ${name}: there is no test/${file}`);
      else if (!titles.has(title)) faults.push(`${section} ${name}: ${file} has no test "${title}"`);
      if (titles !== undefined) files.set(file, titles);
    }
  }
  return faults;
}

test('every row names a test that is there, or says why there is none', async () => {
  const rows = readRows(PAGE);
  expect(rows.length).toBeGreaterThan(100);
  expect(await faultsOf(rows)).toEqual([]);
});

test('every section is there, and no row twice', () => {
  const rows = readRows(PAGE);
  expect([...new Set(rows.map(({ section }) => section.split(' ')[0]))]).toEqual(['2', '3', '4', '5', '6', '8', '9']);
  const names = rows.map(({ section, name }) => `${section}: ${name}`);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test('a test that was renamed, a file that is gone and an empty cell are found', async () => {
  const own = '`repository/docs-conformance.test.ts`: every section is there, and no row twice';
  const page = [
    '## 1 Sample',
    '| row | promise | test |',
    '| --- | --- | --- |',
    `| right | it is | ${own} |`,
    '| honest | it will be | not yet: nobody has made it |',
    `| renamed | it was | ${own}, and more |`,
    '| gone | it was | `gone.test.ts`: something |',
    '| empty | it is said |  |',
    '| vague | it is said | somebody has seen it |',
    `| half | it is said | ${own}<br>and by hand |`,
    `| silent |  | ${own} |`,
    '',
  ].join('\n');
  const faults = await faultsOf(readRows(page));
  expect(faults.map((fault) => fault.replace(/:.*/, ''))).toEqual(
    ['renamed', 'gone', 'empty', 'vague', 'half', 'silent'].map((name) => `1 Sample ${name}`),
  );
});
