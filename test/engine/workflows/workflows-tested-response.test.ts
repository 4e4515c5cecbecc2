import { expect, test } from 'vitest';
import { testedResponse } from '../../../engine/src/workflows/controls/play-steps.ts';
import { LIMITS } from '../../../shared/src/index.ts';

const MAX = LIMITS.shownStepBytes;
const shownOf = (body: Uint8Array) => {
  const shown = testedResponse({ status: 200, headers: { a: 'b' }, body }, true);
  return { ...shown, body: Buffer.from(shown.body) };
};

test('a body that is short enough is shown whole', () => {
  for (const body of ['', 'é', 'x'.repeat(MAX)]) {
    const shown = shownOf(Buffer.from(body));
    expect(shown.body.toString() === body).toBe(true);
    expect(shown).toMatchObject({ status: 200, headers: { a: 'b' }, isText: true, isCut: false, immediate: true });
  }
});

test('the beginning of a longer text is shown, cut at a whole character', () => {
  for (const character of ['x', 'é', '語', '😀']) {
    for (const before of ['', 'x', 'xx', 'xxx']) {
      const text = before + character.repeat(MAX + 1);
      const shown = shownOf(Buffer.from(text));
      expect(shown).toMatchObject({ isText: true, isCut: true });
      expect(shown.body.length).toBeGreaterThan(MAX - 4);
      expect(shown.body.length).toBeLessThanOrEqual(MAX);
      expect(text.startsWith(shown.body.toString())).toBe(true);
    }
  }
});

test('bytes are cut at any place, and are not text even if they begin like text', () => {
  const bytes = Buffer.alloc(MAX + 10, 'x');
  bytes[MAX + 5] = 0xff;
  expect(shownOf(bytes)).toMatchObject({ isText: false, isCut: true, body: bytes.subarray(0, MAX) });
  expect(shownOf(Buffer.alloc(MAX + 1, 0x80))).toMatchObject({ isText: false, isCut: true });
  expect(shownOf(Buffer.alloc(MAX + 1, 0x80)).body).toHaveLength(MAX);
});

test('no memory of the rest is held', () => {
  const arrived = new Uint8Array(10 * MAX);
  const { body } = testedResponse({ status: 200, headers: {}, body: arrived.subarray(5, 9 * MAX) }, false);
  expect(body.buffer.byteLength).toBe(MAX);
});
