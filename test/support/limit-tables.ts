import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ACCOUNT_LIMITS, PLATFORM_LIMITS } from '../../shared/src/index.ts';
import type { Limit } from '../../shared/src/limits/define-limits.ts';

const PAGE = path.resolve(import.meta.dirname, '../../docs/configuration.md');
const START = '<!-- Written by test/support/write-limit-tables.ts:';
const END = '<!-- End of what is written -->';

/** The page of the configuration, with its present and its expected text. */
export function readLimitPage(): { path: string; text: string; wanted: string } {
  const text = readFileSync(PAGE, 'utf8');
  const withAccounts = replaceSection(text, 'limits of accounts', accountTable());
  return { path: PAGE, text, wanted: replaceSection(withAccounts, 'limits of the platform', platformTables()) };
}

function replaceSection(page: string, name: string, lines: readonly string[]): string {
  const start = `${START} ${name} -->`;
  const [before = '', rest] = page.split(start);
  const [, after] = rest?.split(END) ?? [];
  if (after === undefined) throw new Error(`docs/configuration.md has no section for ${name}`);
  const others = rest?.split(END).slice(1).join(END);
  return `${before}${start}\n\n${lines.join('\n')}\n\n${END}${others}`;
}

function accountTable(): string[] {
  const rows = Object.entries(ACCOUNT_LIMITS).map(
    ([name, { default: value, min, max, unit, scope, why }]) =>
      `| \`${name}\` | ${value} | ${min} | ${max} | ${unit} | ${scope} | ${why} |`,
  );
  return [
    '| limit | default | min | max | unit | of each | a limit on |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ];
}

function platformTables(): string[] {
  return Object.entries<Readonly<Record<string, Limit>>>(PLATFORM_LIMITS).flatMap(([area, limits], at) => [
    ...(at === 0 ? [] : ['']),
    `#### ${area}`,
    '',
    '| limit | value | unit | of each | a limit on |',
    '| --- | --- | --- | --- | --- |',
    ...Object.entries(limits).map(
      ([name, { default: value, unit, scope, why }]) => `| \`${name}\` | ${value} | ${unit} | ${scope} | ${why} |`,
    ),
  ]);
}
