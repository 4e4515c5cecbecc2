import { afterAll, beforeAll, expect, test } from 'vitest';
import { readStoredLines, storeLines } from '../../../engine/src/events/stored-lines.ts';
import type { LogLine } from '../../../shared/src/index.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const linesOf = (messages: readonly string[]): LogLine[] =>
  messages.map((message) => ({ level: 'info', atMs: 1, message }));
const storedOf = async (message: string) => readStoredLines(await storeLines(linesOf([message])))[0]?.message;

const CHARS = 16_384;
const LINES = 383;
/** Time, level, and the mark of a cut. */
const OVERHEAD = 100;

test.each([
  ['control characters', '\u0001'.repeat(CHARS)],
  ['halves of pairs', '\ud800'.repeat(CHARS)],
  ['text and then control characters', 'x'.repeat(CHARS / 2) + '\u0002'.repeat(CHARS / 2)],
  ['control characters among quotes', '\u0003""'.repeat(CHARS / 3)],
])('a record of lines of %s is at most twice the logged size', async (_, message) => {
  const stored = await storeLines(linesOf(Array.from({ length: LINES }, () => message)));
  expect(stored.length).toBeLessThanOrEqual(LINES * (2 * CHARS + OVERHEAD));
  expect(readStoredLines(stored)).toHaveLength(LINES);
  expect(await storedOf(message)).toMatch(/ \[cut: not text\]$/);
});

test.each([
  ['quotes and backslashes', '"\\'.repeat(CHARS / 2)],
  ['line ends and tabs', '\r\n\t'.repeat(CHARS / 3)],
  ['colours', '\u001b[31mred\u001b[0m '.repeat(1_000)],
  ['pairs, at every place of a piece', `x${'🐎'.repeat(CHARS / 2)}`],
  ['a NUL in it', 'before\0after'],
  ['a NUL and half of a pair alone', 'l\0\ud800'],
  ['nothing', ''],
])('a line of %s is stored as it is', async (_, message) => {
  expect(await storedOf(message)).toBe(message);
});

test('the megabytes that a run may log leave the thread to others while they are written', async () => {
  const lines = linesOf(Array.from({ length: LINES }, () => 'x'.repeat(CHARS)));
  expect((await longestTurnMs(() => storeLines(lines))) / slowness()).toBeLessThan(10);
});

test('a step may log them: they count by their own size, not six times it', async () => {
  const code = `for (let i = 0; i < 100; i++) console.log('\\u0001'.repeat(16_000)); return 1;`;
  const steps = [{ namespace: 'logs', code: action(code) }];
  const { id, endpointKey } = await insertWorkflow(hw.sql, { accountId: hw.accountId, steps });
  await post(`${hw.url}/e/${endpointKey}`, {});
  const [execution] = await untilExecutions(hw.sql, id, 1);
  expect(execution).toMatchObject({ status: 'succeeded' });
  expect(execution?.steps[0]?.logs).toHaveLength(100);
});
