import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';

// limits: Events without end; the error at the limit is caught and the run goes on as if nothing
// was.
describe('emits', () => {
  const world = hostile({ ownAccounts: true });

  it('no event beyond the limit is taken, and the run fails with the limit', async () => {
    await world.limit({ maxEmitsPerRun: 20 });
    const ran = await world.unharmed(() =>
      world.attack(`for (let i = 0; i < 30000; i++) try { this.$emit(i) } catch {}`),
    );
    expect(ran.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit: { name: 'maxEmitsPerRun', value: 20, used: 21 } });
    expect(ran.events).toHaveLength(20);
  });
});

// limits: Events from unawaited promises and timers, after the run has ended.
describe('emits-after-the-answer', () => {
  const world = hostile({ ownAccounts: true });

  it('they count for nothing', async () => {
    await world.limit({ runCpuMs: 1_000 });
    const ran = await world.unharmed(() =>
      world.attack(`
      for (let i = 0; i < 100; i++) { setTimeout(() => this.$emit('timer'), 1); setImmediate(() => this.$emit('immediate')) }
      Promise.resolve().then(() => { for (let i = 0; i < 100; i++) setTimeout(() => this.$emit('later'), 5) });
      throw new Error('done')`),
    );
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'done' });
    expect(ran.events).toEqual([]);
  });
});

// limits: Events, each within its limit, until they fill the database.
describe('event-bytes', () => {
  const world = hostile({ ownAccounts: true });

  it('their bytes count together, and the run ends at its limit', async () => {
    await world.limit({ maxRunOutputBytes: 65_536, maxEventBytes: 32_768 });
    const ran = await world.unharmed(() =>
      world.attack(`for (let i = 0; i < 500; i++) try { this.$emit({ i, text: 'ü'.repeat(10000) }) } catch {}`),
    );
    expect(ran.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes', value: 65_536 } });
    expect(ran.events).toHaveLength(3);
  });
});

// limits: An event of a few objects, whose JSON is of gigabytes because they are shared.
describe('event-that-grows', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of CPU time, inside the isolate', async () => {
    await world.limit({ runCpuMs: 1_000, memoryMb: 64 });
    const ran = await world.unharmed(() =>
      world.attack(
        `let bomb = 'x'.repeat(100); for (let i = 0; i < 24; i++) bomb = [bomb, bomb, bomb, bomb]; this.$emit(bomb)`,
      ),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 1_000 } });
    expect(ran.events).toEqual([]);
  });
});

// limits: One event of ten megabytes.
describe('huge-event', () => {
  const world = hostile({ ownAccounts: true });

  it('is refused where it was emitted, with its size', async () => {
    await world.limit({ maxEventBytes: 10_000 });
    const ran = await world.unharmed(() => world.attack(`this.$emit('x'.repeat(10e6))`));
    expect(ran.error).toMatchObject({
      code: 'OUTPUT_LIMIT',
      limit: { name: 'maxEventBytes', value: 10_000, used: 10_000_002 },
    });
    expect(ran.events).toEqual([]);
  });
});

// limits: An answer of ten megabytes to the client of an endpoint.
describe('huge-response', () => {
  const world = hostile({ ownAccounts: true });

  it('counts as output, and the run ends at its limit', async () => {
    await world.limit({ maxRunOutputBytes: 65_536 });
    const ran = await world.unharmed(() =>
      world.attack(
        `export default { name: 'x', version: '1', props: { http: '$.interface.http' }, async run() { await this.http.respond({ status: 200, body: 'x'.repeat(10e6) }) } };`,
      ),
    );
    expect(ran.error).toMatchObject({
      code: 'OUTPUT_LIMIT',
      limit: { name: 'maxRunOutputBytes', value: 65_536, used: 10_000_000 },
    });
  });
});

// limits: respond called without end in one run.
describe('responds', () => {
  const world = hostile({ ownAccounts: true });

  it('one answer counts; the warnings about the others are log lines, within their limit', async () => {
    await world.limit({ runCpuMs: 300, maxLogLinesPerRun: 20 });
    const ran = await world.unharmed(() =>
      world.attack(
        `export default { name: 'x', version: '1', props: { http: '$.interface.http' }, async run() { for (;;) this.http.respond({ status: 200, body: 'x'.repeat(1000) }) } };`,
      ),
    );
    expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 300 } });
    expect(ran.logs).toHaveLength(21);
  });
});

// fairness: A source that hears itself and emits a hundred events for each: a tree that would take
// days.
describe('tree-of-events', () => {
  const world = hostile({ ownAccounts: true });

  it('the neighbour is served while it grows, and it ends with its source', async () => {
    const { attacker, sql } = world;
    const code = `export default { name: 'Tree', version: '1', run() { for (let i = 0; i < 100; i++) this.$emit(i); } };`;
    const tree = await attacker.deploy(code);
    await attacker.api('POST', '/subscriptions', { emitter_id: tree.id, listener_id: tree.id });
    const waiting = () => sql`select from invocations where source_id = ${tree.id}`;
    await world.unharmed(async () => {
      await attacker.api('POST', `/sources/${tree.id}/run`, {});
      await eventually(async () => (await waiting()).length > 2_000, { timeoutMs: 20_000 });
    });
    const deleted = await world.unharmed(() => attacker.api('DELETE', `/sources/${tree.id}`));
    expect(deleted.status).toBe(204);
    // Thousands of invocations are given up, in turn with commits of other tenants.
    await world.untilIdle(60_000);
    expect(await waiting()).toHaveLength(0);
  });
});

// limits: Two sources that hear each other, emit twice for each event, and listen to everything as
// well.
describe('ring-of-sources', () => {
  const world = hostile({ ownAccounts: true });

  const TWICE = `export default { name: 'Twice', version: '1', run() { this.$emit(1); this.$emit(2); } };`;

  it('the ring ends at the limit of the chain, which its last runs name', async () => {
    const { attacker, sql } = world;
    await world.limit({ maxEventHops: 5 });
    const [a, b] = [await attacker.deploy(TWICE), await attacker.deploy(TWICE)];
    for (const [emitter, listener] of [
      [a.id, b.id],
      [b.id, a.id],
      ['dc_*', a.id],
      ['dc_*', b.id],
    ]) {
      const made = await attacker.api('POST', '/subscriptions', { emitter_id: emitter, listener_id: listener });
      expect(made.status).toBe(200);
    }
    let rounds = 0;
    const { error } = await world.unharmed(async () => {
      rounds++;
      const first = await world.run(a.id);
      await world.untilIdle();
      return first;
    });
    expect(error).toBeUndefined();
    const events = await sql`select from events where emitter_id in (${a.id}, ${b.id}) and channel = ''`;
    // 2 + 4 + … + 64: each event is heard once, by the other one, five times in a row.
    expect(events).toHaveLength(126 * rounds);
    const errors = await sql<{ data: string }[]>`
    select data from events where emitter_id in (${a.id}, ${b.id}) and channel = '$errors'`;
    expect(errors).toHaveLength(32 * rounds);
    for (const { data } of errors) {
      expect(JSON.parse(data).error).toMatchObject({
        code: 'RESOURCE_LIMIT',
        limit: { name: 'maxEventHops', value: 5, used: 6 },
      });
    }
  });
});

// limits: Two workflows that hear each other, emit twice for each event, and listen to all
// workflows as well.
describe('ring-of-workflows', () => {
  const world = hostile({ ownAccounts: true });

  const TWICE = '$.send.emit({ n: 1 }); $.send.emit({ n: 2 });';

  it('the ring ends at the limit of the chain, which its last executions name', async () => {
    const { attacker, sql } = world;
    await world.limit({ maxEventHops: 4 });
    const [a, b] = [
      await makeWorkflow(attacker, { steps: [TWICE] }),
      await makeWorkflow(attacker, { steps: [TWICE], settings: { concurrency: 2 } }),
    ];
    for (const [emitter, listener] of [
      [a.id, b.id],
      [b.id, a.id],
      ['p_*', a.id],
      ['p_*', b.id],
    ]) {
      const made = await attacker.api('POST', '/subscriptions', { emitter_id: emitter, listener_id: listener });
      expect(made.status).toBe(200);
    }
    let rounds = 0;
    await world.unharmed(async () => {
      rounds++;
      expect((await attacker.api('POST', `/workflows/${a.id}/run`)).status).toBe(200);
      await world.untilIdle();
    });
    const events = await sql`select from events where emitter_id in (${a.id}, ${b.id}) and channel = ''`;
    // 2 + 4 + … + 32: each event is heard once, by the other one, four times in a row.
    expect(events).toHaveLength(62 * rounds);
    const errors = await sql<{ data: string }[]>`
    select data from events where emitter_id in (${a.id}, ${b.id}) and channel = '$errors'`;
    expect(errors).toHaveLength(16 * rounds);
    for (const { data } of errors) {
      expect(JSON.parse(data).error).toMatchObject({
        code: 'RESOURCE_LIMIT',
        limit: { name: 'maxEventHops', value: 4, used: 5 },
      });
    }
  });
});
