import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readConfig } from '../../api/src/config.ts';
import { ACCOUNT_LIMITS, LIMITS, PLATFORM_LIMITS } from '../../shared/src/index.ts';
import type { Limit, LimitUnit } from '../../shared/src/limits/define-limits.ts';
import { cellsOf } from '../support/error-table.ts';
import { readLimitPage } from '../support/limit-tables.ts';

const PAGE = await readText('docs/configuration.md');
const UNITS: Readonly<Record<LimitUnit, string>> = {
  bytes: 'Bytes',
  'bytes per second': 'BytesPerSecond',
  characters: 'Chars',
  'characters per second': 'CharsPerSecond',
  count: '',
  days: 'Days',
  hours: 'Hours',
  MB: 'Mb',
  minutes: 'Minutes',
  ms: 'Ms',
  'per second': 'PerSecond',
  seconds: 'Seconds',
};
/** Files of shared/src/limits that are no area of the platform's. */
const NO_AREAS = new Set(['account-limits.ts', 'decide-account-limits.ts', 'define-limits.ts', 'platform-limits.ts']);

function readText(name: string): Promise<string> {
  return readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
}

/** The cells of the table that follows a heading, without its two header rows. */
function tableUnder(heading: string): string[][] {
  const section = PAGE.split(new RegExp(`\n#{2,3} ${heading}\n`))[1]?.split(/\n#{2,3} /)[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

const withoutTicks = (cell = '') => cell.replaceAll('`', '');

test('the tables of limits are those of the code (npm run fix:limits)', () => {
  const { text, wanted } = readLimitPage();
  expect(cellsOf(text)).toBe(cellsOf(wanted));
});

test('a default of an account is within its bounds', () => {
  for (const [name, { default: value, min, max }] of Object.entries(ACCOUNT_LIMITS)) {
    expect({ name, fits: min <= value && value <= max }).toEqual({ name, fits: true });
  }
});

test('the unit of every limit is in its name', () => {
  const areas: Record<string, Limit>[] = [ACCOUNT_LIMITS, ...Object.values(PLATFORM_LIMITS)];
  const inWrongUnit = areas
    .flatMap((area) => Object.entries(area))
    .filter(([name, { unit }]) => !name.includes(UNITS[unit] ?? ''));
  expect(inWrongUnit).toEqual([]);
});

test('every limit of the platform is in one area, and every area is among the limits', async () => {
  const folder = new URL('../../shared/src/limits/', import.meta.url);
  const files = (await readdir(folder)).filter((name) => !NO_AREAS.has(name));
  const areas = await Promise.all(files.map((name) => import(new URL(name, folder).href) as Promise<object>));
  const names = areas.flatMap((area) => Object.values(area)).flatMap((limits) => Object.keys(limits as object));
  expect(names.toSorted()).toEqual(Object.keys(LIMITS).toSorted());
  expect(
    Object.values(PLATFORM_LIMITS)
      .flatMap((area) => Object.keys(area))
      .toSorted(),
  ).toEqual(names.toSorted());
});

test('every environment variable that a process reads is listed, and nothing else', async () => {
  const source = await readText('api/src/config.ts');
  const read = [...source.matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map(([, name]) => name);
  const listed = tableUnder('Environment variables').map(([name]) => withoutTicks(name));
  expect(listed.length).toBeGreaterThan(5);
  expect(new Set(listed)).toEqual(new Set(read));
});

test('the defaults of the environment variables are those of the code', () => {
  const outcome = readConfig({}, []);
  if (!outcome.ok) throw new Error(outcome.problems.join('\n'));
  const { config } = outcome;
  const defaults = new Map(tableUnder('Environment variables').map(([name, value]) => [withoutTicks(name), value]));
  expect({
    port: `\`${config.port}\``,
    host: `\`${config.host}\``,
    dataDir: `\`${config.dataDir}\``,
    role: `\`${config.role}\``,
    logLevel: `\`${config.logLevel}\``,
    egressAllow: config.egressAllow.length,
  }).toEqual({
    port: defaults.get('PORT'),
    host: defaults.get('HOST'),
    dataDir: defaults.get('HEADWATER_DATA_DIR'),
    role: defaults.get('HEADWATER_ROLE'),
    logLevel: defaults.get('HEADWATER_LOG_LEVEL'),
    egressAllow: 0,
  });
  expect(config.publicUrl).toBe(`http://${config.host}:${config.port}`);
});

test('the address in the README and in the examples is the default one', async () => {
  const outcome = readConfig({}, []);
  const expected = outcome.ok ? outcome.config.publicUrl : '';
  const texts = await Promise.all(
    ['README.md', ...['http-request-bin', 'github-webhook', 'rss-new-items'].map((name) => `examples/${name}.mjs`)].map(
      readText,
    ),
  );
  const addresses = texts.flatMap((text) => [...text.matchAll(/(http:\/\/[^/\s]+)\/v1\//g)].map(([, url]) => url));
  expect(addresses.length).toBeGreaterThan(5);
  expect(new Set(addresses)).toEqual(new Set([expected]));
});

test('the listed retry schedule is the one in use', async () => {
  const source = await readText('engine/src/outbox/retry-policy.ts');
  const schedule = /DEFAULT_SCHEDULE_SECONDS = \[([\d_, ]+)\]/.exec(source)?.[1]?.replaceAll(/[_ ]/g, '');
  const row = tableUnder('Environment variables').find(([name]) => name?.includes('RETRY_SCHEDULE'));
  expect(withoutTicks(row?.[1])).toBe(schedule);
});
