import { expect, test } from 'vitest';
import { httpUrlParameter } from '../../api/src/parameters/schemas.ts';
import { formsOf } from '../../engine/src/secrets/secret-forms.ts';
import { findTooMany } from '../../shared/src/json/json-size.ts';
import { readParameters } from '../../api/src/parameters/read-parameters.ts';
import { LIMITS } from '../../shared/src/index.ts';
import { longestTurnMs, slowness } from '../support/longest-turn.ts';

const KINDS = new Map([
  ['name', 'text'],
  ['event', 'any'],
] as const);

function form(body: string): Record<string, unknown> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return readParameters(new Request('http://localhost/', { method: 'POST', headers }), body, KINDS);
}

const objectOf = (count: number, name: (i: number) => string) =>
  `{${Array.from({ length: count }, (_, i) => `"${name(i)}":0`).join()}}`;

test('names of members that differ are counted, those that repeat are not', () => {
  const most = LIMITS.maxApiJsonNames;
  const refusal = `has more than ${most} different names of members`;
  expect(findTooMany(objectOf(most - 1, (i) => `name ${i}`))).toBeUndefined();
  for (const name of [(i: number) => `name ${i}`, (i: number) => `\\"${i}`, (i: number) => `${i}\\\\`]) {
    expect(findTooMany(objectOf(2 * most, name))).toBe(refusal);
  }
  expect(findTooMany(objectOf(2 * most, (i) => `name ${i % 100}`))).toBeUndefined();
  expect(findTooMany(`["${'a:'.repeat(100_000)}"]`)).toBeUndefined();
});

test('JSON in the field of a form has the bounds of a body', async () => {
  const event = `[${'[],'.repeat(LIMITS.maxApiJsonLists)}0]`;
  const message = `has more than ${LIMITS.maxApiJsonLists} lists and objects`;
  expect(() => form(`event=${event}`)).toThrow(expect.objectContaining({ fields: [{ path: 'event', message }] }));
  expect(form('event=[1,{}]')).toEqual({ event: [1, {}] });
  const table = '1,2,3\n'.repeat(300_000);
  expect(form(new URLSearchParams({ event: table }).toString())).toEqual({ event: table });
});

test('a form of millions of spaces is read at once', async () => {
  const spaces = 5_000_000;
  const longest = await longestTurnMs(async () => {
    expect(form(`name=${'+'.repeat(spaces)}`)['name']).toHaveLength(spaces);
  });
  expect(longest / slowness()).toBeLessThan(150);
  expect(form('name=a+%2B+%C3%BC+ü')).toEqual({ name: 'a + ü ü' });
});

/** Milliseconds of this thread. */
function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  return process.threadCpuUsage(before).user / 1_000;
}

test('a URL that is too long is not read, and a long secret has few forms', () => {
  const url = `https://${Array.from({ length: 5_400 }, (_, n) => String.fromCharCode(0x4e00 + n)).join('')}/`;
  const read = () => httpUrlParameter().safeParse(url);
  read();
  // 40 each, where its letters are made those of a host's name.
  expect(cpuMs(() => Array.from({ length: 10 }, read))).toBeLessThan(100 * slowness());
  // Four times as long with the escapes of all forms in small letters.
  const secret = '>'.repeat(65_000);
  formsOf(secret);
  expect(cpuMs(() => formsOf(secret))).toBeLessThan(40 * slowness());
});
