import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ERRORS } from '../../shared/src/errors.ts';

const PAGE = path.resolve(import.meta.dirname, '../../docs/errors.md');
const START = '<!-- Written by test/support/write-error-table.ts -->';

/** The page of errors, with its present and its expected text. */
export function readErrorPage(): { path: string; text: string; wanted: string } {
  const text = readFileSync(PAGE, 'utf8');
  const [before = ''] = text.split(START);
  const rows = Object.entries(ERRORS).map(
    ([code, { status, title, advice }]) => `| \`${nameOf(code)}\` | ${status} | ${title} | ${advice} |`,
  );
  const table = [
    '| `type`, after `urn:headwater:error:` | status | meaning | what to do |',
    '| --- | --- | --- | --- |',
    ...rows,
  ];
  return { path: PAGE, text, wanted: `${before}${START}\n\n${table.join('\n')}\n` };
}

function nameOf(code: string): string {
  return code.toLowerCase().replaceAll('_', '-');
}

/** Without the spaces that only align its cells. */
export function cellsOf(page: string): string {
  return page.replaceAll(/ *\| */g, '|').replaceAll(/\|-+/g, '|-');
}
