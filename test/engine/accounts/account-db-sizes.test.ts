import { afterEach, beforeEach, expect, test } from 'vitest';
import { planCommit, type RunCommit } from '../../../engine/src/runs/commit/commit-plan.ts';
import { eventually } from '../../support/eventually.ts';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeEach(async () => {
  hw = await sharedHeadwater();
  await hw.limit({ maxAllDbBytes: MAX });
});
afterEach(() => hw.stop());

const MAX = 65_536;

const STORE = `export default {
  name: 'Store', version: '1', props: { http: { type: '$.interface.http', customResponse: true }, db: '$.service.db' },
  run({ body }) {
    for (const [key, chars] of body) this.db.set(key, 'x'.repeat(chars));
    this.http.respond({ status: 200 });
  },
};`;

/** Sets values with these numbers of characters; returns the error of the run, or null. */
async function set(source: DeployedSource, ...values: [string, number][]) {
  const headers = { 'content-type': 'application/json' };
  await fetch(source.endpoint, { method: 'POST', headers, body: JSON.stringify(values) });
  await hw.untilIdle();
  const runs = (await hw.api('GET', `/sources/${source.id}/runs`, { limit: 100 })).data as { error: object | null }[];
  return { error: runs[0]?.error ?? null, runs: runs.length };
}

const keysOf = async ({ id }: DeployedSource) =>
  (await hw.sql<{ key: string }[]>`select key from component_db where source_id = ${id} order by key`).map(
    ({ key }) => key,
  );

test('the bytes that all sources store together are bounded, and a write that adds none is always stored', async () => {
  const [first, second] = [await hw.deploy(STORE), await hw.deploy(STORE)];
  expect(await set(first, ['a', 40_000])).toEqual({ error: null, runs: 0 });
  const { error } = await set(second, ['a', 40_000], ['b', 1_000]);
  expect(error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxAllDbBytes', value: MAX } });
  expect((error as { limit: { used: number } }).limit.used).toBeGreaterThan(80_000);
  expect((error as { message: string }).message).toContain('maxAllDbBytes');
  expect(await keysOf(second)).toEqual(['b']);
  await hw.limit({ maxAllDbBytes: null });
  await set(second, ['c', 40_000]);
  await hw.limit({ maxAllDbBytes: MAX });
  // Over it by now: smaller goes, larger does not.
  expect(await set(first, ['a', 39_999])).toEqual({ error: null, runs: 0 });
  expect((await set(first, ['a', 40_000])).error).toMatchObject({ limit: { name: 'maxAllDbBytes' } });
});

test('runs committed together count for each other, and runs of other accounts do not', () => {
  const run = (accountId: string, sourceId: string, value: string): RunCommit => ({
    accountId,
    sourceId,
    final: true,
    dedupe: undefined,
    emits: [],
    dbWrites: new Map([['key', value]]),
    maxAllDbBytes: 1_000,
  });
  const states = new Map(
    ['dc_1', 'dc_2', 'dc_3'].map((id) => [
      id,
      { last: { ms: 0, seq: 0 }, dedupe: undefined, db: { bytes: 0, byKey: new Map<string, number>() } },
    ]),
  );
  const value = 'x'.repeat(300);
  const runs = [run('o_1', 'dc_1', value), run('o_1', 'dc_2', value), run('o_2', 'dc_3', value)];
  const plan = planCommit(runs, states, [], 1, { dbBytesOf: () => 400 });
  expect(runs.map((one) => plan.runs.get(one)?.exceeded)).toEqual([
    undefined,
    { name: 'maxAllDbBytes', value: 1_000, used: 400 + 2 * (300 + 3 + 64) },
    undefined,
  ]);
  expect([...plan.dbGrowth]).toEqual([
    ['o_1', 367],
    ['o_2', 367],
  ]);
});

test('concurrent runs store as many values as there is room for', async () => {
  const sources = await Promise.all(Array.from({ length: 8 }, () => hw.deploy(STORE)));
  await Promise.all(sources.map((source) => set(source, ['a', 30_000])));
  const stored = await Promise.all(sources.map(keysOf));
  expect(stored.flat()).toEqual(['a', 'a']);
});

test('values stored by another node, and the deletion of a source, are known after some seconds', async () => {
  const [first, second] = [await hw.deploy(STORE), await hw.deploy(STORE)];
  await hw.sql`update emitter_state set db_bytes = ${MAX} where emitter_id = ${first.id}`;
  let tries = 0;
  const isRefused = async () => (await set(second, [`key ${++tries}`, 1])).runs > 0;
  await eventually(isRefused, { timeoutMs: 20_000, everyMs: 500 });
  await hw.api('DELETE', `/sources/${first.id}`);
  const isStored = async () => {
    await set(second, ['late', 1]);
    return (await keysOf(second)).includes('late');
  };
  await eventually(isStored, { timeoutMs: 20_000, everyMs: 500 });
  expect(await keysOf(first)).toEqual([]);
});
