import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { createRunOutputs, type OutputPart } from '../../../engine/src/runs/run-outputs.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';

/** More than a part of a run has. */
const EVENTS = 1_500;
const FIRST_MS = Date.UTC(2026, 0, 1);

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw.stop());

/**
 * Runs a source with this code once; resolves with the stored values of its events, in stored
 * order.
 */
async function storedOf(run: string, dedupe?: string): Promise<number[]> {
  const source = await hw.deploy(`export default { name: 'L', version: '1', ${dedupe ? `dedupe: '${dedupe}',` : ''}
    props: { http: '$.interface.http' }, async run() { ${run} } };`);
  expect((await post(source.endpoint, {})).status).toBe(200);
  await hw.untilIdle();
  const rows = await hw.sql<{ data: string }[]>`
    select data from events where emitter_id = ${source.id} and channel = '' order by indexed_at_ms, seq`;
  return rows.map(({ data }) => Number(data));
}

/**
 * As a poller goes through pages of an API: each waits, so that parts could be committed meanwhile.
 */
const newestFirst = (options: string) => `
  for (let n = ${EVENTS}; n > 0; n -= 1) {
    this.$emit(n, ${options});
    if (n % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }`;

const oldestFirst = Array.from({ length: EVENTS }, (_, i) => i + 1);

describe('a run of more events than a part has, newest first', () => {
  it.each(['greatest', 'unique', 'last', undefined])(
    'keeps them all in the order of ts with dedupe %s',
    async (dedupe) => {
      const stored = await storedOf(newestFirst(`{ id: n, ts: ${FIRST_MS} + n }`), dedupe);
      expect(stored).toEqual(oldestFirst);
    },
  );

  it('keeps them in the order in which they were emitted without ts', async () => {
    expect(await storedOf(newestFirst('{ id: n }'))).toEqual(oldestFirst.toReversed());
  });
});

it('a part committed before the first ts stays, and later events are stored once, in the order of ts', async () => {
  const gate = await startReceiver();
  gate.answer = { delayMs: 3_000 };
  const storing = storedOf(`
    for (let n = 1; n <= 1000; n += 1) this.$emit(n, { summary: 'before' });
    await fetch('${gate.url}');
    const ahead = Date.now() + 60_000;
    for (let n = 2500; n > 1000; n -= 1) this.$emit(n, { ts: ahead + n });`);
  await gate.until(1);
  await eventually(async () => (await hw.sql`select from events where summary = 'before'`).length === 1_000);
  expect(await hw.sql`select from invocations`).toHaveLength(1);
  expect(await storing).toEqual(Array.from({ length: 2_500 }, (_, i) => i + 1));
  await gate.stop();
});

it('a run that fails keeps its events with ts, in order', async () => {
  const stored = await storedOf(
    `${newestFirst(`{ id: n, ts: ${FIRST_MS} + n }`)} throw new Error('too late');`,
    'greatest',
  );
  expect(stored).toEqual(oldestFirst);
});

it('from the first event with a ts on parts wait for the end of the run, and are in the order of all its events', async () => {
  let nowMs = 0;
  const parts: OutputPart[] = [];
  const outputs = createRunOutputs({
    commitPart: async (part) => void parts.push(part),
    nowMs: () => nowMs,
    readDbValue: () => Promise.reject(new Error('not asked')),
    fetch: () => Promise.reject(new Error('not asked')),
    dataStore: () => Promise.reject(new Error('not asked')),
    respond: () => {},
  });
  const emit = (data: string, ts?: number) =>
    outputs.host.emit({ data, emittedAtMs: nowMs, ...(ts === undefined ? {} : { ts }) });
  emit('1');
  nowMs += LIMITS.partialCommitMs;
  emit('2');
  await eventually(() => parts.length === 1);
  emit('3');
  emit('4', 1);
  nowMs += LIMITS.partialCommitMs;
  for (let n = 0; n < LIMITS.partialCommitEmits; n += 1) emit('5');
  outputs.host.dbSet('key', 'x'.repeat(LIMITS.partialCommitBytes));
  expect(parts).toHaveLength(1);
  const rest = await outputs.finish();
  const [first, second, ...others] = [...parts, rest].map(({ emits }) => emits.map(({ data }) => data));
  expect([first, second?.slice(0, 3), second?.length]).toEqual([
    ['1', '2'],
    ['4', '3', '5'],
    LIMITS.partialCommitEmits,
  ]);
  expect(others).toEqual([['5', '5']]);
  expect(parts.every(({ dbWrites }) => dbWrites.size === 0)).toBe(true);
  expect([...rest.dbWrites.keys()]).toEqual(['key']);
});
