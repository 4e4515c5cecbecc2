import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { eventually } from '../../support/eventually.ts';
import { type AttackOutcome, hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';
import { post } from '../../support/server.ts';

// fairness: Dozens of runs that write to data stores as fast as they can, for as long as they can.
describe('data-store-calls', () => {
  const world = hostile({ ownAccounts: true });

  const WRITER = `export default { name: 'Writer', version: '1', props: { store: 'data_store' },
  async run({ n }) {
    const value = 'x'.repeat(50_000);
    const calls = Array.from({ length: 100 }, (_, i) => this.store.set(n + ':' + i, value).catch((error) => error.limit?.name ?? error.message));
    this.$emit([...new Set(await Promise.all(calls))]);
  } };`;

  it('they wait for each other, end at the size of the store, and the neighbour’s runs have the database as before', async () => {
    const { attacker } = world;
    await world.limit({ maxDataStoreBytes: 5_000_000 });
    const store = (await attacker.api('POST', '/data_stores', { name: 'Full' })).body.data.id as string;
    const { id } = await attacker.deploy(WRITER, { store });
    await world.unharmed(async () => {
      await Promise.all(
        Array.from({ length: longRun(4, 12) }, (_, n) => attacker.api('POST', `/sources/${id}/run`, { event: { n } })),
      );
      await world.untilIdle(60_000);
    });
    const { data } = (await attacker.api('GET', `/data_stores/${store}`)).body;
    expect(data.bytes).toBeLessThanOrEqual(5_000_000);
    expect(data.record_count).toBe(Math.floor(5_000_000 / (data.bytes / data.record_count)));
    const events = (await attacker.api('GET', `/sources/${id}/event_summaries?limit=100`)).body.data as {
      event: string[];
    }[];
    expect(events.flatMap(({ event }) => event)).toContain('maxDataStoreBytes');
  });
});

// fairness: A dozen runs that read large values of a data store, one after the other, as fast as
// they can.
describe('data-store-reads', () => {
  const world = hostile({ ownAccounts: true });

  const RUNS = 12;
  const VALUE_CHARS = 1_000_000;
  const READ_MS = 3_000;
  const SET = `export default { name: 'Set', version: '1', props: { store: 'data_store' },
  run() { return this.store.set('large', 'x'.repeat(${VALUE_CHARS})); } };`;
  const READ = `export default { name: 'Read', version: '1', props: { store: 'data_store' }, async run() {
  const fromMs = Date.now();
  let reads = 0;
  for (; Date.now() < fromMs + ${READ_MS}; reads++) await this.store.get('large');
  this.$emit({ reads, fromMs, toMs: Date.now() });
} };`;

  it('they wait for each other, and read no faster than an account may', async () => {
    const { attacker } = world;
    const { id: store } = (await attacker.api('POST', '/data_stores', { name: 'Read' })).body.data as { id: string };
    const [set, read] = [await attacker.deploy(SET, { store }), await attacker.deploy(READ, { store })];
    expect((await world.run(set.id)).error).toBeUndefined();
    await world.unharmed(async () => {
      const runs = await Promise.all(
        Array.from({ length: RUNS }, () => attacker.api('POST', `/sources/${read.id}/run`, {})),
      );
      expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 200));
      await world.untilIdle(40_000);
    });
    const { data } = (await attacker.api('GET', `/sources/${read.id}/event_summaries?limit=100&expand=event`)).body as {
      data: { event: { reads: number; fromMs: number; toMs: number } }[];
    };
    expect(data).toHaveLength(RUNS);
    const ran = data.map(({ event }) => event);
    const ms = Math.max(...ran.map(({ toMs }) => toMs)) - Math.min(...ran.map(({ fromMs }) => fromMs));
    const reads = ran.reduce((sum, run) => sum + run.reads, 0);
    expect(reads).toBeGreaterThan(0);
    // Each turn pauses after its read, so the first reads have no pause before them.
    const pauseMs = ((VALUE_CHARS - LIMITS.smallValueChars) / LIMITS.dataStoreCharsPerSecond) * 1_000;
    expect(reads).toBeLessThanOrEqual(LIMITS.maxDataStoreCallsPerTenant * (ms / pauseMs + 1));
  });
});

// limits: One value of ten megabytes for the store.
describe('db-big-value', () => {
  const world = hostile({ ownAccounts: true });

  it('is refused where it was set, with its size, and nothing is stored', async () => {
    await world.limit({ maxDbValueBytes: 10_000 });
    const ran = await world.unharmed(() => world.attack(`this.db.set('big', 'x'.repeat(10e6))`));
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxDbValueBytes', value: 10_000, used: 10_000_002 },
    });
    expect(await world.sql`select from component_db where source_id = ${ran.sourceId}`).toEqual([]);
  });
});

// limits: Reads of the store without end, each a query.
describe('db-gets', () => {
  const world = hostile({ ownAccounts: true });

  it('the run ends at its limit of reads', async () => {
    await world.limit({ maxDbReadsPerRun: 50 });
    const ran = await world.unharmed(() => world.attack(`for (let i = 0; ; i++) this.db.get('key ' + i)`));
    expect(ran.error).toMatchObject({
      code: 'RESOURCE_LIMIT',
      limit: { name: 'maxDbReadsPerRun', value: 50, used: 51 },
    });
  });
});

// limits: Many sources of one account, each with a `$.service.db` that is filled as far as it
// goes.
describe('db-of-many-sources', () => {
  const world = hostile({ ownAccounts: true });
  const SOURCES = 8;
  const MAX = 128 * 1024;

  const FILL = `export default { name: 'Fill', version: '1', props: { db: '$.service.db' }, run() {
  for (let i = 0; i < 100; i++) this.db.set('key ' + i, 'x'.repeat(1_000));
} };`;

  it('together they hold what the account may, and runs beyond it end at that limit', async () => {
    const { attacker, sql } = world;
    await world.limit({ maxAllDbBytes: MAX });
    const sources = await Promise.all(Array.from({ length: SOURCES }, () => attacker.deploy(FILL)));
    const ends = await world.unharmed(() => Promise.all(sources.map(({ id }) => world.run(id))));
    const [stored] = await sql<{ bytes: number }[]>`
    select sum(octet_length(key) + octet_length(value) + 64)::int4 as bytes from component_db where account_id = ${attacker.id}`;
    expect(stored?.bytes).toBeLessThanOrEqual(MAX);
    expect(stored?.bytes).toBeGreaterThan(MAX - 2_000);
    const errors = ends.flatMap(({ error }) => (error === undefined ? [] : [error]));
    expect(errors.length).toBeGreaterThanOrEqual(SOURCES - 1);
    for (const error of errors)
      expect(error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxAllDbBytes', value: MAX } });
  });
});

// fairness: Many sources whose runs read large values of `$.service.db` without a pause.
describe('db-reads-of-many-sources', () => {
  const world = hostile({ ownAccounts: true });

  const SOURCES = 16;
  const READ_MS = 3_000;
  const READ = `export default { name: 'Read', version: '1', props: { db: '$.service.db' }, run({ sets }) {
  if (sets) return this.db.set('large', 'x'.repeat(60_000));
  let reads = 0;
  for (const endsAtMs = Date.now() + ${READ_MS}; Date.now() < endsAtMs; reads++) this.db.get('large');
  this.$emit(reads);
} };`;

  it('a few of them wait at the database, the others for their turn, and the neighbour is served meanwhile', async () => {
    const { attacker, neighbour, sql } = world;
    const sources = await Promise.all(Array.from({ length: SOURCES }, () => attacker.deploy(READ)));
    const setting = await Promise.all(sources.map(({ id }) => world.run(id, { sets: true })));
    expect(setting.flatMap(({ error }) => error ?? [])).toEqual([]);
    const ends = await world.unharmed(async () => {
      let reading: Promise<AttackOutcome[]> = Promise.resolve([]);
      await sql.begin(async (tx) => {
        // As a database that is slow for a moment.
        await tx`lock table component_db in access exclusive mode`;
        reading = Promise.all(sources.map(({ id }) => world.run(id, {}, 60_000)));
        const blocked = async () => (await blockedBy(tx)).length;
        await eventually(async () => (await blocked()) >= LIMITS.maxDbReadsPerTenant, { timeoutMs: 20_000 });
        for (let n = 0; n < 10; n++) {
          expect((await neighbour.api('GET', '/sources')).status).toBe(200);
          expect(await blocked()).toBe(LIMITS.maxDbReadsPerTenant);
        }
      });
      return reading;
    });
    expect(ends.flatMap(({ error }) => error ?? [])).toEqual([]);
    for (const { events } of ends) expect(events).toEqual([expect.any(Number)]);
  });
});

// bridge: One small value for the store, set without end from a loop that never yields.
describe('db-sets-of-one-key', () => {
  const world = hostile({ ownAccounts: true });

  it('the loop ends at its CPU time, and what waits for it is bounded', async () => {
    await world.limit({ runCpuMs: 500 });
    const ran = await world.unharmed(() =>
      world.attack(`for (let i = 0; ; i++) try { this.db.set('k', i % 10) } catch {}`),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 500 } });
  });
});

// limits: Values without end for the store, one key each.
describe('db-sets', () => {
  const world = hostile({ ownAccounts: true });

  it('their bytes count as output, and the run ends at its limit', async () => {
    await world.limit({ maxRunOutputBytes: 65_536 });
    const ran = await world.unharmed(() =>
      world.attack(`for (let i = 0; i < 5000; i++) try { this.db.set('key ' + i, 'x'.repeat(1000)) } catch {}`),
    );
    expect(ran.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes', value: 65_536 } });
    const [stored] = await world.sql`select count(*)::int as keys from component_db where source_id = ${ran.sourceId}`;
    expect(stored?.['keys']).toBeLessThanOrEqual(65);
  });
});

// fairness: Dozens of sources that remember a hundred of the longest ids each, then many small
// requests to all of them.
describe('ids-that-are-remembered', () => {
  const world = hostile({ ownAccounts: true });

  const SOURCES = longRun(10, 24);
  const ROUNDS = longRun(5, 12);
  const MAX_STATE_BYTES = 6_000;
  const UNIQUE = `export default { name: 'Unique', version: '1', dedupe: 'unique', props: { http: '$.interface.http' }, run({ body }) {
  for (let n = 0; n < body.count; n++) this.$emit(n, { id: n + ' ' + '"'.repeat(500) });
} };`;

  it("each commit reads and writes few of them, and the neighbour's commits wait little", async () => {
    const { attacker, sql } = world;
    const sources = await Promise.all(Array.from({ length: SOURCES }, () => attacker.deploy(UNIQUE)));
    const askAll = (count: number) => Promise.all(sources.map(({ endpoint }) => post(endpoint, { count })));
    await askAll(100);
    await world.untilIdle();
    await world.unharmed(async () => {
      for (let round = 0; round < ROUNDS; round++) {
        // One that is known, as if nothing had happened.
        const answers = await askAll(1);
        expect(answers.map(({ status }) => status)).toEqual(sources.map(() => 200));
      }
      await world.untilIdle();
    });
    const states = await sql<{ bytes: number; ids: number }[]>`
    select octet_length(dedupe::text) as bytes, jsonb_array_length(dedupe->'ids') as ids
    from emitter_state where account_id = ${attacker.id}`;
    expect(states.map(({ ids }) => ids)).toEqual(sources.map(() => 100));
    for (const { bytes } of states) expect(bytes).toBeLessThan(MAX_STATE_BYTES);
    const [events] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from events where account_id = ${attacker.id}`;
    expect(events?.count).toBe(SOURCES * 100);
  });
});
