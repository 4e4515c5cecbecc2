import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { trimAbandonedRuns } from '../../../engine/src/runs/abandoned-runs.sql.ts';
import { LIMITS, newId } from '../../../shared/src/index.ts';
import { childProcesses } from '../../support/child-processes.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';

/** Before its run ends it asks the test, which may end its sandbox process instead of an answer. */
const ASKING = `export default { name: 'Asking', version: '1', props: { http: '$.interface.http', asked: 'string' },
  async run(event) {
    this.$emit({ begun: event.body.id });
    console.log('asks');
    await fetch(this.asked + '/' + event.body.id);
    this.$emit({ ended: event.body.id });
  } };`;

let hw: Headwater;
let receiver: Receiver;
/** How many of the next requests of a run end its process, by the id in its event. */
const kills = new Map<string, number>();
const lines: { level: number; run?: string }[] = [];

beforeAll(async () => {
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) });
  [hw, receiver] = await Promise.all([startHeadwater({ log }), startReceiver()]);
  receiver.answer = ({ url }) => {
    const id = url.slice(1);
    const left = kills.get(id) ?? 0;
    if (left > 0) endSandboxes();
    kills.set(id, left - 1);
    return {};
  };
});
afterAll(async () => {
  await hw?.stop();
  await receiver?.stop();
});

function endSandboxes(): void {
  for (const { pid } of childProcesses()) process.kill(pid, 'SIGKILL');
}

const askedBy = (id: string) => receiver.requests.filter(({ url }) => url === `/${id}`).length;

test('a run whose sandbox process is killed from outside, less often than the limit, ends well and emits once', async () => {
  const source = await hw.deploy(ASKING, { asked: receiver.url });
  kills.set('unlucky', LIMITS.maxInvocationAttempts - 1);
  await post(source.endpoint, { id: 'unlucky' });
  const events = await hw.untilEvents(source.id, 2);
  expect(events.map(({ event }) => event)).toEqual([{ begun: 'unlucky' }, { ended: 'unlucky' }]);
  expect(askedBy('unlucky')).toBe(LIMITS.maxInvocationAttempts);
  await hw.untilIdle();
  expect(await hw.sql`select from abandoned_runs where source_id = ${source.id}`).toHaveLength(0);
});

test('runs beside one that ends their process end well, and no crash of it is theirs', async () => {
  const source = await hw.deploy(ASKING, { asked: receiver.url });
  kills.set('poison', Number.POSITIVE_INFINITY);
  const ids = ['a', 'b', 'c', 'poison', 'd', 'e'];
  await Promise.all(ids.map((id) => post(source.endpoint, { id })));
  const abandoned = await eventually(
    async () => {
      const rows = await hw.sql<{ id: string; event: string; kind: string }[]>`
        select * from abandoned_runs where source_id = ${source.id}`;
      return rows.length > 0 && rows;
    },
    { timeoutMs: 60_000 },
  );
  expect(abandoned).toMatchObject([{ kind: 'http', account_id: hw.accountId }]);
  expect(JSON.parse(abandoned[0]!.event)).toMatchObject({ body: { id: 'poison' } });
  await hw.untilIdle();
  const events = await hw.untilEvents(source.id, 10);
  expect(events.map(({ event }) => JSON.stringify(event)).toSorted()).toEqual(
    ids
      .filter((id) => id !== 'poison')
      .flatMap((id) => [`{"begun":"${id}"}`, `{"ended":"${id}"}`])
      .toSorted(),
  );
  const { data: runs } = await hw.api('GET', `/sources/${source.id}/runs`);
  const failed = runs.filter((run: { error: object | null }) => run.error !== null);
  expect(failed).toMatchObject([{ id: abandoned[0]!.id, error: { code: 'RUN_ABANDONED' } }]);
});

test('a crash is stored before the run begins again', async () => {
  const source = await hw.deploy(ASKING, { asked: receiver.url });
  // The first process may have served others.
  kills.set('counted', 2);
  await post(source.endpoint, { id: 'counted' });
  await eventually(async () => {
    const [row] = await hw.sql`select crashes from invocations where source_id = ${source.id}`;
    return askedBy('counted') === 2 && Number(row?.['crashes']) > 0;
  });
  const events = await hw.untilEvents(source.id, 2);
  expect(events.map(({ event }) => event)).toEqual([{ begun: 'counted' }, { ended: 'counted' }]);
});

/** Abandons one run for each id; answers the ids of the runs. */
async function abandonSome(sourceId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('invocation'));
  for (const id of ids) {
    await hw.sql`
      insert into abandoned_runs (id, account_id, source_id, kind, hops, event, error_message)
      values (${id}, ${hw.accountId}, ${sourceId}, 'http', 0, ${JSON.stringify({ body: { id } })}, 'It ended')`;
  }
  return ids;
}

const WELL = ASKING.replace(/await fetch.*/, '');

test('an abandoned run is listed, told to $errors, the log and the metrics, and ends well when it is retried with other code', async () => {
  const source = await hw.deploy(ASKING, { asked: receiver.url });
  kills.set('bad', Number.POSITIVE_INFINITY);
  await post(source.endpoint, { id: 'bad' });
  const [run] = await eventually(
    async () => {
      const { data } = await hw.api('GET', '/runs', { status: 'abandoned', source_id: source.id });
      return data.length > 0 && data;
    },
    { timeoutMs: 60_000 },
  );
  expect(run).toMatchObject({
    source_id: source.id,
    status: 'abandoned',
    kind: 'http',
    trace_id: run.id,
    event: { body: { id: 'bad' } },
    event_truncated: false,
    error: { code: 'RUN_ABANDONED' },
  });
  const { data: errors } = await hw.api('GET', `/sources/${source.id}/event_summaries`, {
    expand: 'event',
    event_name: '$errors',
  });
  expect(errors).toMatchObject([
    { event: { error: { code: 'RUN_ABANDONED' }, original_event: { body: { id: 'bad' } } } },
  ]);
  expect(lines.filter(({ run: id, level }) => id === run.id && level === 50)).toHaveLength(1);
  expect(await hw.metrics()).toMatch(/^headwater_runs_abandoned_total [1-9]/m);

  const mended = await hw.api('PUT', `/sources/${source.id}`, { component_code: WELL });
  expect(mended.status).toBe(200);
  const retried = await Promise.all([1, 2, 3].map(() => hw.api('POST', `/runs/${run.id}/retry`)));
  expect(
    retried.map(({ status, data }) => [status, data.count]).toSorted(([, a], [, b]) => Number(a) - Number(b)),
  ).toEqual([
    [200, 0],
    [200, 0],
    [200, 1],
  ]);
  await hw.untilIdle();
  const events = await hw.sql<{ data: string; invocation_id: string }[]>`
    select data, invocation_id from events where emitter_id = ${source.id} and channel <> '$errors' order by seq`;
  expect([...events]).toEqual([
    { data: '{"begun":"bad"}', invocation_id: run.id },
    { data: '{"ended":"bad"}', invocation_id: run.id },
  ]);
  const { data: runs } = await hw.api('GET', `/sources/${source.id}/runs`);
  expect(runs).toMatchObject([{ id: run.id, status: 'ok', error: null }]);
  expect((await hw.api('GET', '/runs', { source_id: source.id })).data).toEqual([]);
  expect((await hw.api('POST', `/runs/${run.id}/retry`)).status).toBe(404);
});

test('a retry goes on counting claims, so that no holder from before holds it', async () => {
  const source = await hw.deploy(ASKING, { asked: receiver.url });
  await abandonSome(source.id, 1);
  await hw.sql`update abandoned_runs set claim = 7 where source_id = ${source.id}`;
  const claim = hw.sql<{ claim: number }[]>`select claim from invocations where source_id = ${source.id}`;
  receiver.script({
    get after() {
      return claim.execute();
    },
  });
  expect((await hw.api('POST', '/runs/retry', { source_id: source.id })).data).toEqual({ count: 1 });
  await hw.untilEvents(source.id, 2);
  expect([...(await claim)]).toEqual([{ claim: 8 }]);
});

test('a retry of many takes those of its source and its time, and each once, also where two ask at once', async () => {
  const [source, other] = [await hw.deploy(WELL, { asked: '' }), await hw.deploy(WELL, { asked: '' })];
  const [ids, others] = [await abandonSome(source.id, 25), await abandonSome(other.id, 2)];
  const [early] = ids;
  await hw.sql`update abandoned_runs set abandoned_at = '2026-01-01T12:00:00Z' where id = ${early!}`;
  const from = Date.UTC(2026, 0, 1);
  const dayOf = { since_ms: from, until_ms: from + 86_400_000 };
  expect((await hw.api('GET', '/runs', dayOf)).data.map(({ id }: { id: string }) => id)).toEqual([early]);
  expect((await hw.api('POST', '/runs/retry', dayOf)).data).toEqual({ count: 1 });
  const answers = await Promise.all([1, 2].map(() => hw.api('POST', '/runs/retry', { source_id: source.id })));
  expect(answers.reduce((sum, { data }) => sum + data.count, 0)).toBe(ids.length - 1);
  await hw.untilEvents(source.id, 2 * ids.length);
  await hw.untilIdle();
  const events = await hw.sql<{ data: string }[]>`select data from events where emitter_id = ${source.id}`;
  const expected = ids.flatMap((id) => [`{"begun":"${id}"}`, `{"ended":"${id}"}`]);
  expect(events.map(({ data }) => data).toSorted()).toEqual(expected.toSorted());
  const { data: left } = await hw.api('GET', '/runs', { source_id: other.id });
  expect(left.map(({ id }: { id: string }) => id).toSorted()).toEqual(others.toSorted());
});

test('another account neither sees nor retries abandoned runs', async () => {
  const source = await hw.deploy(WELL, { asked: '' });
  const [id] = await abandonSome(source.id, 1);
  const { data: other } = await hw.admin('POST', '/accounts', { name: 'Other' });
  const api = hw.as(other.api_key);
  expect((await api('GET', '/runs')).data).toEqual([]);
  expect((await api('GET', '/runs', { source_id: source.id })).status).toBe(404);
  expect((await api('POST', `/runs/${id}/retry`)).status).toBe(404);
  expect((await api('POST', '/runs/retry', { source_id: source.id })).status).toBe(404);
  expect((await api('POST', '/runs/retry')).data).toEqual({ count: 0 });
  expect(await hw.sql`select from abandoned_runs where id = ${id!}`).toHaveLength(1);
});

test('a retry takes no more than the queue of the account has room for', async () => {
  const source = await hw.deploy(WELL, { asked: '' });
  await hw.api('PUT', `/sources/${source.id}`, { active: false });
  await abandonSome(source.id, 5);
  await hw.limit({ maxQueuedInvocations: 3 });
  // The queue is counted every few seconds, so rows of earlier tests may still count.
  const some = await eventually(
    async () => {
      const answer = await hw.api('POST', '/runs/retry', { source_id: source.id });
      return answer.status === 200 && answer;
    },
    { everyMs: 100 },
  );
  expect(some.data).toEqual({ count: 3 });
  const full = await hw.api('POST', '/runs/retry', { source_id: source.id });
  expect(full).toMatchObject({ status: 429, text: expect.stringContaining('maxQueuedInvocations') });
  await hw.limit({ maxQueuedInvocations: null });
  expect((await hw.api('POST', '/runs/retry', { source_id: source.id })).data).toEqual({ count: 2 });
  expect(await hw.sql`select from invocations where source_id = ${source.id}`).toHaveLength(5);
  await hw.api('DELETE', `/sources/${source.id}`);
});

test('a retry makes the same invocation again: with its cause, its trace, and the interface that it came by', async () => {
  const source = await hw.deploy(WELL, { asked: '' });
  await hw.api('PUT', `/sources/${source.id}`, { active: false });
  const [id] = await abandonSome(source.id, 1);
  const cause = { caused_by: 'dc_other-1-0', trace_id: 'inv_first', hops: 3, http_prop: 'http', timer_prop: null };
  await hw.sql`update abandoned_runs set ${hw.sql(cause)} where id = ${id!}`;
  const { data } = await hw.api('GET', '/runs', { source_id: source.id });
  expect(data).toMatchObject([{ id, caused_by: cause.caused_by, trace_id: cause.trace_id }]);
  expect((await hw.api('POST', `/runs/${id}/retry`)).data).toEqual({ count: 1 });
  const [row] = await hw.sql`select * from invocations where id = ${id!}`;
  expect(row).toMatchObject({ ...cause, kind: 'http', event: JSON.stringify({ body: { id } }), crashes: 0 });
  await hw.api('DELETE', `/sources/${source.id}`);
});

test('abandoned runs leave with their source, and when they are too old or too many', async () => {
  const source = await hw.deploy(WELL, { asked: '' });
  const [old, ...kept] = await abandonSome(source.id, 3);
  await hw.sql`
    update abandoned_runs set abandoned_at = now() - make_interval(days => ${LIMITS.abandonedRunDays + 1})
    where id = ${old!}`;
  const large = newId('invocation', Date.now() - 1_000);
  await hw.sql`
    insert into abandoned_runs (id, account_id, source_id, kind, hops, event, error_message)
    select x.id, ${hw.accountId}, ${source.id}, 'http', 0, repeat('1', ${LIMITS.maxAbandonedRunBytes + 1}), ''
    from unnest(${[large, newId('invocation', Date.now() - 2_000)]}::text[]) as x(id)`;
  await eventually(async () => (await trimAbandonedRuns(hw.sql, 100)) === 0);
  const left = await hw.sql<{ id: string }[]>`
    select id from abandoned_runs where source_id = ${source.id} order by id`;
  expect(left.map(({ id }) => id).toSorted()).toEqual([large, ...kept].toSorted());
  await hw.api('DELETE', `/sources/${source.id}`);
  expect(await hw.sql`select from abandoned_runs where source_id = ${source.id}`).toHaveLength(0);
});
