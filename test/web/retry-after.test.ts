import { expect, test } from 'vitest';
import { endOfWait } from '../../web/src/api/retry-after.ts';

const NOW_MS = Date.parse('Sat, 28 Nov 2026 09:00:00 GMT');

test('a wait for the rate ends after the seconds of retry-after, at its date, or soon', () => {
  expect(endOfWait('3', NOW_MS)).toBe(NOW_MS + 3_000);
  expect(endOfWait('Sat, 28 Nov 2026 09:00:07 GMT', NOW_MS)).toBe(NOW_MS + 7_000);
  for (const unclear of ['', 'soon']) expect(endOfWait(unclear, NOW_MS)).toBe(NOW_MS + 1_000);
});
