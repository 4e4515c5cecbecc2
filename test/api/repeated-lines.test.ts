import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRepeatedLines, WINDOW_MS } from '../../api/src/repeated-lines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

function startLines() {
  const summaries: [string, number][] = [];
  const lines = createRepeatedLines((message, left) => summaries.push([message, left]), Date.now);
  const written = (count: number, fields: object, message: string) =>
    Array.from({ length: count }, () => lines.mayWrite(fields, message)).filter(Boolean).length;
  return { written, summaries };
}

test('while the database is away one line of each kind is written in ten seconds, and then how many were not', () => {
  const { written, summaries } = startLines();
  expect(written(5_000, { err: away }, 'the heartbeat failed')).toBe(1);
  expect(written(300, { meta: { error: away } }, 'Failed to get job of worker-0123456789abcdef after 17 ms')).toBe(1);
  vi.advanceTimersByTime(WINDOW_MS * 1.2);
  expect(summaries).toEqual([
    ['the heartbeat failed', 4_999],
    ['Failed to get job of worker-… after … ms', 299],
  ]);
  expect(written(2, { err: away }, 'the heartbeat failed')).toBe(1);
});

test('each other failure is written, unless there are hundreds', () => {
  const { written, summaries } = startLines();
  expect(written(40, { err: new Error('odd') }, 'request failed unexpectedly')).toBe(40);
  expect(written(200, { err: new Error('odd') }, 'request failed unexpectedly')).toBe(10);
  vi.advanceTimersByTime(WINDOW_MS * 1.2);
  expect(summaries).toEqual([['request failed unexpectedly', 190]]);
  vi.advanceTimersByTime(WINDOW_MS * 1.2);
  expect(summaries).toHaveLength(1);
});
