import { expect, test } from 'vitest';
import { isLongJson, isShortJson, readMembers } from '../../shared/src/index.ts';
import { JsonScanner, skipSpace } from '../../shared/src/json/json-scanner.ts';
import { fc } from '../support/properties.ts';

function scan(text: string, slice: number): boolean {
  const scanner = new JsonScanner(text);
  for (;;) {
    const found = scanner.read(slice);
    if (found !== undefined) return found >= 0 && skipSpace(text, found) === text.length;
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('the scanner accepts the same texts as JSON.parse in pieces of any size', () => {
  const tokens = [
    ['{', '}', '[', ']', ',', ':', '"', '"a"', '"\\u00e9"', '"\\x"', '\\', ' ', '\n', '\t', '\v', '\u0000'],
    ['0', '01', '-', '-1', '1.', '1.5', '1e5', '1E+', 'e', 'true', 'false', 'null', 'nul', 'é', '\u2028'],
  ].flat();
  const token = fc.constantFrom(...tokens);
  const broken = fc.array(token, { maxLength: 12 }).map((parts) => parts.join(''));
  const whole = fc.jsonValue().map((value) => JSON.stringify(value, null, 1));
  const long = fc.constantFrom('a'.repeat(1_200), '\\"'.repeat(700), '\\u12'.repeat(400), `${'a'.repeat(2_000)}\n`);
  const text = fc.oneof(
    broken,
    whole,
    fc.tuple(whole, broken).map(([a, b]) => a + b),
    long.map((s) => `["${s}",1]`),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 50 }), (json, slice) => {
      expect(scan(json, slice)).toBe(parses(json));
    }),
    { numRuns: 3_000 },
  );
});

test('a deep text of megabytes is read in turns, and a short one at once', async () => {
  expect(isShortJson('{"a":1}')).toBe(true);
  expect(isShortJson('{"a":}')).toBe(false);
  const deep = '['.repeat(500_000);
  expect(isShortJson(deep)).toBeUndefined();
  expect(await isLongJson(deep + ']'.repeat(500_000))).toBe(true);
  expect(await isLongJson(deep)).toBe(false);
});

test('the members of an object have the texts that make the values JSON.parse makes', async () => {
  const names = ['a', 'b', '__proto__', 'é'] as const;
  const name = fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 3 }));
  const members = fc.array(fc.tuple(name, fc.jsonValue(), fc.nat(2)), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(members, async (pairs) => {
      const json = `{ ${pairs.map(([key, value, space]) => `${JSON.stringify(key)} : ${JSON.stringify(value, null, space)}`).join(' ,\n')} } `;
      const expected = names.filter((one) => pairs.some(([key]) => key === one));
      const found = (await readMembers(json, names)) ?? {};
      expect(Object.keys(found).toSorted()).toEqual(expected.toSorted());
      for (const one of expected) {
        const last = pairs.findLast(([key]) => key === one)?.[1];
        expect(JSON.parse(found[one] ?? '')).toEqual(JSON.parse(JSON.stringify(last)));
      }
    }),
  );
  for (const text of ['[]', '1', '"{}"', 'null']) expect(await readMembers(text, names)).toBeUndefined();
});
