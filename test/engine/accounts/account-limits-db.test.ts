import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());
afterEach(() => hw.limit({ maxDbBytes: null, maxDbValueBytes: null }));

const MIN_BYTES = 65_536;

/** Does what the request says: sets values, shows the store's, throws. */
const STORE = `export default {
  name: 'Store', version: '1', props: { http: { type: '$.interface.http', customResponse: true }, db: '$.service.db' },
  async run({ body }) {
    for (const [key, chars] of body.set ?? []) this.db.set(key, 'x'.repeat(chars));
    if (body.emit) this.$emit(body.emit);
    if (body.fail) throw new Error('own');
    const found = (body.get ?? []).map((key) => this.db.get(key)?.length ?? null);
    this.http.respond({ status: 200, body: { found } });
  },
};`;

async function send(source: DeployedSource, body: object): Promise<Response> {
  return fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function stored(source: DeployedSource, keys: string[]): Promise<(number | null)[]> {
  await hw.untilIdle();
  const { found } = (await (await send(source, { get: keys })).json()) as { found: (number | null)[] };
  return found;
}

interface Run {
  error: { code: string; message: string; limit: { name: string; value: number; used: number } | null } | null;
}

const lastRun = async ({ id }: DeployedSource, count = 1) =>
  eventually(async () => {
    const runs = (await hw.api('GET', `/sources/${id}/runs`)).data as Run[];
    return runs.length >= count && runs[0];
  });

test('a run that fills its store beyond the limit fails with the limit, and keeps what it emitted and what fits', async () => {
  await hw.limit({ maxDbBytes: MIN_BYTES });
  const source = await hw.deploy(STORE);
  const set = [
    ['a', 40_000],
    ['b', 40_000],
    ['c', 1_000],
  ];
  await send(source, { set, emit: { kept: true } });
  const { error } = await lastRun(source);
  expect(error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxDbBytes', value: MIN_BYTES } });
  expect(error?.limit?.used).toBeGreaterThan(80_000);
  expect(error?.limit?.used).toBeLessThan(81_000);
  expect(error?.message).toContain('maxDbBytes');
  expect(await hw.untilEvents(source.id, 1)).toMatchObject([{ event: { kept: true } }]);
  expect(await stored(source, ['a', 'b', 'c'])).toEqual([40_000, null, 1_000]);
});

test('the limit is of all keys and values of all runs together, also of runs that are committed together', async () => {
  await hw.limit({ maxDbBytes: MIN_BYTES });
  const source = await hw.deploy(STORE);
  await Promise.all(Array.from({ length: 20 }, (_, i) => send(source, { set: [[`key-${i}`, 10_000]] })));
  await hw.untilIdle();
  const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`);
  expect((await stored(source, keys)).filter((length) => length === 10_000)).toHaveLength(6);
  expect((await hw.api('GET', `/sources/${source.id}/runs`, { limit: 100 })).data).toHaveLength(14);
});

test('many small keys are no way around the limit', async () => {
  await hw.limit({ maxDbBytes: MIN_BYTES });
  const source = await hw.deploy(STORE);
  await send(source, { set: Array.from({ length: 1_100 }, (_, i) => [String(i), 0]) });
  expect((await lastRun(source)).error?.limit?.name).toBe('maxDbBytes');
  expect(await stored(source, ['0', '1', '1098', '1099'])).toEqual([0, 0, null, null]);
});

test('a full store can be overwritten and made smaller, and then takes new values', async () => {
  await hw.limit({ maxDbBytes: MIN_BYTES });
  const source = await hw.deploy(STORE);
  await send(source, { set: [['a', 60_000]] });
  await hw.untilIdle();
  await send(source, { set: [['b', 10_000]] });
  expect((await lastRun(source)).error?.code).toBe('RESOURCE_LIMIT');
  await send(source, { set: [['a', 100]] });
  await send(source, { set: [['b', 10_000]] });
  expect(await stored(source, ['a', 'b'])).toEqual([100, 10_000]);
});

test('a store that is over a limit that was lowered keeps its values and takes no larger ones', async () => {
  const source = await hw.deploy(STORE);
  await send(source, { set: [['a', 50_000]] });
  await send(source, { set: [['b', 50_000]] });
  await hw.untilIdle();
  await hw.limit({ maxDbBytes: MIN_BYTES });
  await send(source, { set: [['a', 50_001]] });
  expect((await lastRun(source)).error?.limit).toMatchObject({ name: 'maxDbBytes', value: MIN_BYTES });
  await send(source, { set: [['a', 49_999]] });
  expect(await stored(source, ['a', 'b'])).toEqual([49_999, 50_000]);
});

test('a run that failed for its own reason keeps it', async () => {
  await hw.limit({ maxDbBytes: MIN_BYTES, maxDbValueBytes: 200_000 });
  const source = await hw.deploy(STORE);
  await send(source, { set: [['a', 100_000]], fail: true });
  expect((await lastRun(source)).error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'own', limit: null });
  expect(await stored(source, ['a'])).toEqual([null]);
});

test('a deployment whose hook stores too much is taken back, with the limit named', async () => {
  await hw.limit({ maxDbBytes: MIN_BYTES, maxDbValueBytes: 200_000 });
  const hooks = `hooks: { deploy() { this.db.set('a', 'x'.repeat(100_000)); } },`;
  const answer = await hw.api('POST', '/sources', {
    component_code: STORE.replace(`version: '1',`, `version: '1', ${hooks}`),
  });
  expect(answer.status).toBe(422);
  expect(answer.text).toContain('maxDbBytes');
});
