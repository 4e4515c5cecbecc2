import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

let node: Headwater;
beforeAll(async () => {
  node = await sharedHeadwater();
});
afterAll(() => node.stop());

const code = (http: string, run: string, more = '') => `export default { name: 'S', version: '1', ${more}
  props: { http: ${http} }, async run(event) { ${run} } };`;
const PLAIN = `'$.interface.http'`;
const ANSWERS = `{ type: '$.interface.http', customResponse: true }`;

async function deploy(componentCode: string): Promise<{ id: string; url: string }> {
  const { status, data } = await node.api('POST', '/sources', { component_code: componentCode, durability: 'none' });
  expect([status, data.durability]).toEqual([200, 'none']);
  return { id: data.id, url: data.configured_props.http.endpoint_url };
}

const send = (url: string, body: unknown = {}) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** Nothing can be written to the table until the answer has been called. */
async function whileLocked(table: string, work: () => Promise<void>): Promise<void> {
  await node.sql.begin(async (tx) => {
    await tx`lock table ${tx(table)} in access exclusive mode`;
    await work();
  });
}

test('a source stores its requests unless it is set otherwise, and the setting holds until it is changed', async () => {
  const made = await node.api('POST', '/sources', { component_code: code(PLAIN, '') });
  const put = async (change: Record<string, unknown>) =>
    (await node.api('PUT', `/sources/${made.data.id}`, change)).data?.durability;
  expect([made.data.durability, await put({ durability: 'none' }), await put({ name: 'Other' })]).toEqual([
    'stored',
    'none',
    'none',
  ]);
  expect((await node.api('PUT', `/sources/${made.data.id}`, { durability: 'some' })).status).toBe(400);
  expect(await put({ durability: 'stored' })).toBe('stored');
});

test('a run that leaves nothing is answered without a statement', async () => {
  const { url } = await deploy(code(ANSWERS, 'this.http.respond({ status: 201, body: event.body });'));
  expect((await send(url)).status).toBe(201);
  await whileLocked('invocations', async () => {
    await whileLocked('emitter_state', async () => {
      const answer = await send(url, { n: 1 });
      expect([answer.status, await answer.json()]).toEqual([201, { n: 1 }]);
      expect(answer.headers.get('x-headwater-run')).toMatch(/^inv_/);
    });
  });
});

test('events of a run are stored once, by the rules of its source, and found by the id of the run', async () => {
  const { id, url } = await deploy(
    code(
      ANSWERS,
      `this.$emit(event.body, { id: event.body.n % 5 }); this.http.respond({ status: 200 });`,
      "dedupe: 'unique',",
    ),
  );
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(url, { n })));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  const events = await node.untilEvents(id, 5);
  expect(new Set(events.map(({ event }) => (event as { n: number }).n % 5)).size).toBe(5);
  const runIds = new Set(answers.map(({ headers }) => headers.get('x-headwater-run') ?? ''));
  const rows = await node.sql<{ run: string }[]>`select invocation_id as run from events where emitter_id = ${id}`;
  expect(rows).toHaveLength(5);
  for (const { run } of rows) expect(runIds.has(run)).toBe(true);
  const trace = await node.api('GET', `/traces/${rows[0]?.run}`);
  expect(trace.status).toBe(200);
});

test('no client hears of an event that is not stored yet, and one that emits later is answered at once', async () => {
  const before = await deploy(code(ANSWERS, `this.$emit(1); this.http.respond({ status: 200 });`));
  const later = await deploy(code(ANSWERS, `this.http.respond({ status: 200 }); this.$emit(1);`));
  await Promise.all([send(before.url), send(later.url)]);
  let isAnswered = false;
  let pending: Promise<Response> | undefined;
  await whileLocked('events', async () => {
    pending = send(before.url).then((answer) => {
      isAnswered = true;
      return answer;
    });
    expect((await send(later.url)).status).toBe(200);
    expect(isAnswered).toBe(false);
  });
  expect((await pending)?.status).toBe(200);
  await node.untilEvents(before.id, 2);
  await node.untilEvents(later.id, 2);
});

test('without an answer of its own a source answers once its events are stored, also where it fails', async () => {
  const { id, url } = await deploy(code(PLAIN, `this.$emit(event.body); if (event.body.fails) throw new Error('no');`));
  expect((await send(url, { n: 1 })).status).toBe(200);
  const [stored] = await node.sql<{ count: number }[]>`
    select count(*)::int4 as count from events where emitter_id = ${id}`;
  expect(stored?.count).toBe(1);
  const failed = await send(url, { fails: true });
  expect(failed.status).toBe(200);
  const runs = await node.api('GET', `/sources/${id}/runs`);
  expect(runs.data).toMatchObject([{ id: failed.headers.get('x-headwater-run'), status: 'error' }]);
});

test('nothing of a request that runs is in the database, so that nothing runs it again', async () => {
  const { id, url } = await deploy(
    code(ANSWERS, `await new Promise((done) => setTimeout(done, 300)); this.http.respond({ status: 200 });`),
  );
  let isAnswered = false;
  const answer = send(url).finally(() => {
    isAnswered = true;
  });
  const looks: number[] = [];
  while (!isAnswered) looks.push((await node.sql`select from invocations where source_id = ${id}`).length);
  expect([Math.max(...looks), (await answer).status]).toEqual([0, 200]);
});

test('the stats of a source count its requests and runs', async () => {
  const { id, url } = await deploy(code(ANSWERS, 'this.http.respond({ status: 200 });'));
  for (let n = 0; n < 3; n++) expect((await send(url)).status).toBe(200);
  await eventually(async () => {
    const { totals } = (await node.api('GET', '/stats', { emitter_id: id })).data;
    return totals.received === 3 && totals.runs_ok === 3;
  });
});
