import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { deploy, killNode, startServer, type TestServer } from '../../support/server.ts';

let test: TestDatabase;
let server: TestServer;

beforeAll(async () => {
  test = await createTestDatabase();
  server = await startServer({ databaseUrl: test.url });
});
afterAll(async () => {
  await server.stop();
  await test.drop();
});

/** `definition`: what the component says of its timer besides the type. */
const timed = (definition: string, run = 'this.$emit({ event, timer: this.timer });') =>
  `export default { name: "Timed", version: "1", props: { timer: { type: "$.interface.timer", ${definition} } },
    async run(event) { ${run} } };`;

interface Emitted {
  event: { timestamp: number; interval_seconds: number | null; cron?: string; timezone?: string };
  timer: Record<string, unknown>;
}

async function emitted(id: string, through = server): Promise<Emitted[]> {
  const { body } = await through.api('GET', `/sources/${id}/event_summaries?limit=100&expand=event`);
  return (body.data as { event: Emitted }[]).map(({ event }) => event).toReversed();
}

const untilTicks = (id: string, count: number, through = server) =>
  eventually(async () => {
    const events = await emitted(id, through);
    return events.length >= count && events;
  });

it('a timer without a configured value takes the default of its prop, and run gets { timestamp, interval_seconds }', async () => {
  const source = await deploy(server, timed('default: { intervalSeconds: 1 }'));
  const [first, second] = await untilTicks(source.id, 2);
  for (const tick of [first, second]) {
    expect(tick?.event).toEqual({ timestamp: expect.any(Number) as number, interval_seconds: 1 });
    expect(tick?.timer).toMatchObject({ intervalSeconds: 1 });
  }
  expect((second?.event.timestamp ?? 0) - (first?.event.timestamp ?? 0)).toBeLessThanOrEqual(2);
  await server.api('DELETE', `/sources/${source.id}`);
});

it('a cron timer has its expression and time zone in the event and in this.timer', async () => {
  const timer = { cron: '* * * * * *', timezone: 'Asia/Kolkata' };
  const source = await deploy(server, timed('default: { intervalSeconds: 900 }'), { props: { timer } });
  const [tick] = await untilTicks(source.id, 1);
  expect(tick?.event).toEqual({ timestamp: expect.any(Number) as number, interval_seconds: null, ...timer });
  expect(tick?.timer).toMatchObject(timer);
  const { data } = (await server.api('GET', `/sources/${source.id}`)).body;
  expect(data.configured_props.timer).toEqual({ ...timer, interval_seconds: null });
  await server.api('DELETE', `/sources/${source.id}`);
});

it('a cron timer without a time zone says in its event that it is in UTC, also where it is run by hand', async () => {
  const timer = { cron: '* * * * * *' };
  const source = await deploy(server, timed('default: { intervalSeconds: 900 }'), { props: { timer } });
  const [tick] = await untilTicks(source.id, 1);
  expect(tick?.event).toMatchObject({ interval_seconds: null, ...timer, timezone: 'UTC' });
  await server.api('PUT', `/sources/${source.id}`, { configured_props: { timer: { cron: '0 0 1 1 *' } } });
  await server.api('POST', `/sources/${source.id}/run`);
  const byHand = await eventually(async () =>
    (await emitted(source.id)).find(({ event }) => event.cron === '0 0 1 1 *'),
  );
  expect(byHand.event).toMatchObject({ interval_seconds: null, timezone: 'UTC' });
  await server.api('DELETE', `/sources/${source.id}`);
});

it('a timer as the API shows it can be sent back', async () => {
  const source = await deploy(server, timed('default: { intervalSeconds: 900 }'));
  const path = `/sources/${source.id}`;
  const { timer } = (await server.api('GET', path)).body.data.configured_props;
  const answer = await server.api('PUT', path, { configured_props: { timer } });
  expect([answer.status, answer.body.data?.configured_props.timer]).toEqual([200, timer]);
});

it('a timer that cannot be is refused with the prop and the reason, and no source is made', async () => {
  const before = (await server.api('GET', '/users/me/sources')).body.page_info.total_count;
  const deployed = (timer: unknown) =>
    server.api('POST', '/sources', { component_code: timed('label: "When"'), configured_props: { timer } });
  for (const timer of [
    { cron: '61 * * * *' },
    { intervalSeconds: 0 },
    { cron: '* * * * *', timezone: 'Nowhere' },
    {},
  ]) {
    const answer = await deployed(timer);
    expect([answer.status, answer.body.errors[0].path]).toEqual([400, 'configured_props.timer']);
  }
  expect((await deployed(undefined)).body.errors[0]).toMatchObject({ path: 'configured_props.timer' });
  expect((await server.api('GET', '/users/me/sources')).body.page_info.total_count).toBe(before);
});

it('PUT reschedules, inactive stops, active starts again, deleting ends', async () => {
  const source = await deploy(server, timed('default: { intervalSeconds: 3600 }'));
  const path = `/sources/${source.id}`;
  const jobs = async () => {
    const rows = await test.db.sql<{ due: number }[]>`
      select extract(epoch from run_at)::float8 * 1000 as due from graphile_worker._private_jobs
      where key = ${`timer:${source.id}:timer`}`;
    return rows.map(({ due }) => due);
  };
  const [hourly] = await jobs();
  await server.api('PUT', path, { configured_props: { timer: { intervalSeconds: 3600 } } });
  expect(await jobs()).toEqual([hourly]);
  await server.api('PUT', path, { configured_props: { timer: { intervalSeconds: 1 } } });
  await untilTicks(source.id, 1);
  await server.api('PUT', path, { active: false });
  expect(await jobs()).toEqual([]);
  // Runs under way at the stop may still emit; later nothing may.
  await eventually(
    async () => (await test.db.sql`select 1 from invocations where source_id = ${source.id}`).length === 0,
  );
  const { length } = await emitted(source.id);
  await server.api('PUT', path, { active: true });
  await untilTicks(source.id, length + 1);
  await server.api('DELETE', path);
  expect(await jobs()).toEqual([]);
});

it('runs of one timer never overlap, however long they take', async () => {
  const run =
    'const at = Date.now(); await new Promise((done) => setTimeout(done, 1500)); this.$emit([at, Date.now()]);';
  const source = await deploy(server, timed('default: { intervalSeconds: 1 }', run));
  const runs = (await untilTicks(source.id, 3)) as unknown as [number, number][];
  for (const [i, [startedAt]] of runs.slice(1).entries()) expect(startedAt).toBeGreaterThanOrEqual(runs[i]?.[1] ?? 0);
  await server.api('DELETE', `/sources/${source.id}`);
});

const timestamps = (ticks: readonly Emitted[]) => ticks.map(({ event }) => event.timestamp);

it('two nodes fire each tick once, and one alone goes on within seconds of the other one’s death', async () => {
  const other = await startServer({ databaseUrl: test.url });
  const source = await deploy(server, timed('default: { cron: "* * * * * *" }'));
  const before = await untilTicks(source.id, 3);
  await killNode(other, test.db.sql);
  const killedS = Math.floor(Date.now() / 1_000);
  const ticks = await eventually(async () => {
    const events = await emitted(source.id);
    return events.filter(({ event }) => event.timestamp > killedS + 1).length >= 3 && events;
  });
  const seconds = timestamps(ticks);
  expect(seconds.slice(0, before.length)).toEqual(timestamps(before));
  // None twice, and each due later than the one before.
  expect(seconds).toEqual([...new Set(seconds)].toSorted((a, b) => a - b));
  const pauses = seconds.slice(1).map((second, i) => second - (seconds[i] as number));
  // A tick that the dead node held comes when another looks; on a busy machine seconds later.
  expect(Math.max(...pauses)).toBeLessThanOrEqual(15);
  await server.api('DELETE', `/sources/${source.id}`);
});

it('after a downtime the tick that waited comes at once, and says when it was due; those missed after it do not', async () => {
  const source = await deploy(server, timed('default: { intervalSeconds: 2 }'));
  await untilTicks(source.id, 1);
  await server.process.end('SIGKILL');
  const before = await test.db.sql`select 1 from events where emitter_id = ${source.id}`;
  const [{ due_ms: dueMs } = { due_ms: 0 }] = await test.db.sql<{ due_ms: number }[]>`
    select due_ms from timers where source_id = ${source.id}`;
  // Three intervals and more.
  await eventually(() => Date.now() > dueMs + 7_000);
  const startMs = Date.now();
  server = await startServer({ databaseUrl: test.url });
  // Runs that the killed node had begun are repeated.
  const ticks = await untilTicks(source.id, before.length + 3);
  const seconds = timestamps(ticks);
  const missed = seconds.filter((second) => second > dueMs / 1_000 && second * 1_000 < startMs - 2_000);
  expect(missed).toEqual([]);
  expect(seconds).toContain(Math.floor(dueMs / 1_000));
  expect(new Set(seconds).size).toBe(seconds.length);
  for (const second of seconds) expect(Math.abs(second - Math.floor(dueMs / 1_000)) % 2).toBe(0);
  await server.api('DELETE', `/sources/${source.id}`);
});
