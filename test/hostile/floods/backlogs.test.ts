import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { makeTenant, type Tenant } from '../../support/hostile-tenant.ts';
import { longestPauseMs } from '../../support/hostile-ticks.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

// fairness: Accounts that delete webhooks and discard what waits for them, all at once, with tens
// of thousands of deliveries each.
describe('stopped-webhooks-with-backlogs', () => {
  const world = hostile({ ownAccounts: true });

  /** Webhooks of each of three accounts: in total more than a node's places for REST requests. */
  const WEBHOOKS = 2;
  const PENDING = 20_000;

  async function withBacklog(tenant: Tenant): Promise<string> {
    const { id } = (await tenant.api('POST', '/webhooks', { url: 'http://127.0.0.1:99/' })).body.data as { id: string };
    await world.sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, next_attempt_at)
    select ${`dlv_${id.slice(3)}`} || lpad(n::text, 8, '0'), ${tenant.id}, ${id}, 'dc_gone', 1000 + n, 0, now() + interval '1 day'
    from generate_series(1, ${PENDING}::int4) n`;
    return id;
  }

  const pendingOf = async (id: string) => {
    const [row] = await world.sql<{ n: number }[]>`
    select count(*)::int4 as n from deliveries where webhook_id = ${id} and status = 'pending'`;
    return row?.n;
  };

  it('do not delay the REST API for any account, and the whole backlog is cancelled', async () => {
    const { attacker, neighbour, server } = world;
    const others = await Promise.all([makeTenant(server, 'second attacker'), makeTenant(server, 'third attacker')]);
    await world.unharmed(async () => {
      const hooks: { tenant: Tenant; id: string }[] = [];
      for (const tenant of [attacker, ...others])
        for (let n = 0; n < WEBHOOKS; n++) hooks.push({ tenant, id: await withBacklog(tenant) });
      const answered: number[] = [];
      const stops = hooks.map(async ({ tenant, id }, nth) => {
        const path = `/webhooks/${id}`;
        const answer = nth % 2 === 0 ? tenant.api('POST', `${path}/discard`) : tenant.api('DELETE', path);
        answered.push((await answer).status);
      });
      const begun = () => world.sql`
      select from deliveries where webhook_id = any(${hooks.map(({ id }) => id)}::text[]) and status = 'cancelled' limit 1`;
      await eventually(async () => (await begun()).length > 0);
      for (const tenant of [neighbour, attacker])
        for (let n = 0; n < 3; n++) expect((await tenant.api('GET', '/webhooks')).status).toBe(200);
      expect(answered).toEqual([]);
      await Promise.all(stops);
      expect(answered.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 204, 204, 204]);
      expect(await Promise.all(hooks.map(({ id }) => pendingOf(id)))).toEqual(hooks.map(() => 0));
    });
  });
});

// limits: Ten thousand events on as many channels, for two thousand subscriptions to others: a
// product in one piece, under the row's lock.
describe('channels-and-subscriptions', () => {
  const world = hostile({ ownAccounts: true });
  const EVENTS = 10_000;
  const SUBSCRIPTIONS = 1_000;

  const EMIT = `export default { name: 'Channels', version: '1', run() {
  const summary = 's'.repeat(300);
  for (let i = 0; i < ${EVENTS}; i++) this.$emit(i, { ts: 1, name: 'c'.repeat(100) + i, summary });
} };`;

  it('are stored, and the metadata of an event counts for the run', async () => {
    const { attacker, sql } = world;
    const { id } = await attacker.deploy(EMIT);
    const webhook = await attacker.api('POST', '/webhooks', { url: 'http://127.0.0.1:8080/' });
    const rows = Array.from({ length: SUBSCRIPTIONS }, (_, n) => ({
      id: `sub_x${id}${n}`,
      event_name: `${'c'.repeat(100)}x${n}`,
    }));
    await sql`insert into subscriptions ${sql(rows.map((row) => ({ ...row, account_id: attacker.id, emitter_id: id, listener_id: webhook.body.data.id })))}`;
    const ran = await world.unharmed(() => world.run(id));
    expect(ran.error).toBeUndefined();
    await world.limit({ maxRunOutputBytes: 2 * 1024 * 1024 });
    const refused = await world.run(id);
    expect(refused.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes' } });
  });
});

// limits: Requests and events for a workflow that takes none of them, until nothing more of the
// account may wait.
describe('backlog', () => {
  const world = hostile({ ownAccounts: true });
  const MAX = 200;

  it('are refused by the name of the limit, and accepted ones stay', async () => {
    const { attacker, sql } = world;
    await world.limit({ maxQueuedInvocations: MAX });
    const paused = await makeWorkflow(attacker, {
      steps: ['return 1;'],
      settings: { throttle: { limit: 0, interval_seconds: 1 } },
    });
    const emitter = await attacker.deploy(
      `export default { name: 'Emit', version: '1', run() { for (let i = 0; i < 1_000; i++) this.$emit(i); } };`,
    );
    await attacker.api('POST', '/subscriptions', { emitter_id: emitter.id, listener_id: paused.id });
    let accepted = 0;
    const refusals = new Set<string>();
    const send = async (count: number) => {
      const answers = await Promise.all(
        Array.from({ length: count }, () => fetch(paused.endpoint, { method: 'POST', body: '1' })),
      );
      for (const answer of answers) {
        const text = await answer.text();
        if (answer.status === 200) accepted++;
        else refusals.add(`${answer.status} ${JSON.parse(text).limit?.name}`);
      }
    };
    await world.unharmed(async () => {
      for (let sent = 0; sent < 2 * MAX; sent += 40) await send(40);
    });
    expect(accepted).toBeLessThanOrEqual(MAX);
    // An execution that is accepted during a count counts twice, until the next count.
    const full = async () => {
      await send(1);
      return accepted >= MAX;
    };
    await eventually(full, { timeoutMs: 20_000, everyMs: 50 });
    await send(40);
    const execution = await attacker.api('POST', `/workflows/${paused.id}/run`, {});
    expect([execution.status, execution.text]).toEqual([429, expect.stringContaining('maxQueuedInvocations')]);
    // The run itself starts, but its event would have to wait.
    const { error } = await world.run(emitter.id);
    expect(error?.limit).toMatchObject({ name: 'maxQueuedInvocations', value: MAX });
    const [waiting] = await sql<{ count: number }[]>`
    select count(*)::int as count from invocations where source_id = ${paused.id}`;
    expect([waiting?.count, accepted, refusals]).toEqual([MAX, MAX, new Set(['429 maxQueuedInvocations'])]);
  });
});

// fairness: Five hundred events each for a paused workflow, one that runs one at a time, and one
// whose steps burn time.
describe('queued-executions', () => {
  const world = hostile({ ownAccounts: true });

  const EVENTS = 500;

  it('wait in their queues, are all kept, and the neighbour is served', async () => {
    const { attacker, sql } = world;
    await world.limit({ maxRequestsPerSecond: 0 });
    const paused = await makeWorkflow(attacker, {
      steps: ['return 1;'],
      settings: { throttle: { limit: 0, interval_seconds: 1 } },
    });
    const one = await makeWorkflow(attacker, { steps: ['return 1;'], settings: { concurrency: 1 } });
    const slow = await makeWorkflow(attacker, {
      steps: ['const until = Date.now() + 20; while (Date.now() < until);'],
      settings: { concurrency: 1_000 },
    });
    const flows = [paused, one, slow];
    const flood = async (endpoint: string) => {
      for (let sent = 0; sent < EVENTS; sent += 50) {
        const answers = await Promise.all(
          Array.from({ length: 50 }, () => fetch(endpoint, { method: 'POST', body: '1' })),
        );
        await Promise.all(answers.map((answer) => answer.arrayBuffer()));
        expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      }
    };
    const before = await sql`select from executions where account_id = ${attacker.id}`;
    await world.unharmed(async () => {
      await Promise.all(flows.map(({ endpoint }) => flood(endpoint)));
    });
    const counts = await sql<{ queued: number; ended: number }[]>`
    select (select count(*) from invocations where source_id = any(${flows.map(({ id }) => id)}))::int as queued,
      (select count(*) from executions where account_id = ${attacker.id})::int as ended`;
    const { queued = 0, ended = 0 } = counts[0] ?? {};
    expect(queued + ended - before.length).toBeGreaterThanOrEqual(flows.length * EVENTS);
    const [waiting] = await sql<{ count: number }[]>`
    select count(*)::int as count from invocations where source_id = ${paused.id} and leased_by is null`;
    expect(waiting?.count).toBeGreaterThanOrEqual(EVENTS);
    for (const { id } of flows) expect((await attacker.api('DELETE', `/workflows/${id}`)).status).toBeLessThan(300);
  });
});

// fairness: Two thousand paused workflows that hear one source: each event makes as many lanes
// due, and each looks whether something may start.
describe('workflows-in-turn', () => {
  const world = hostile({ ownAccounts: true });

  const EMITS = `export default { name: 'Emits', version: '1', props: { http: '$.interface.http' }, run() { this.$emit({}); } };`;
  /** Twice as many as an account may have by default, where the pause was three seconds. */
  const WORKFLOWS = longRun(800, 2_000);
  const EVENTS = longRun(8, 16);
  const EVERY_MS = 500;
  /**
   * With jobs that waited for their turn, and all workers of the node with them, it was nearly six
   * seconds.
   */
  const SOON_MS = 4_000;

  /** As its tenant makes them one by one, which takes longer. */
  async function makeListeners(emitterId: string): Promise<void> {
    const { sql, attacker } = world;
    const paused = JSON.stringify({ concurrency: 1, throttle: { limit: 0, intervalSeconds: 60 } });
    const ids = Array.from({ length: WORKFLOWS }, () => newId('workflow'));
    const deployments = ids.map(() => newId('deployment'));
    await sql`
    insert into emitters (id, account_id, user_id, name, name_slug, kind, in_turn, deployed_at, deployment_id)
    select made.id, ${attacker.id}, u.id, 'w', made.id, 'workflow', true, now(), made.deployment
    from unnest(${ids}::text[], ${deployments}::text[]) as made(id, deployment),
      (select id from users where account_id = ${attacker.id} limit 1) as u`;
    await sql`insert into emitter_state (emitter_id, account_id) select id, ${attacker.id} from unnest(${ids}::text[]) as id`;
    await sql`
    insert into deployments (id, account_id, workflow_id, user_id, version, triggers, steps, settings)
    select made.id, e.account_id, e.id, e.user_id, 1, '[]', '[]', ${paused}::text::jsonb
    from unnest(${ids}::text[], ${deployments}::text[]) as made(workflow, id) join emitters e on e.id = made.workflow`;
    await sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id)
    select made.id, ${attacker.id}, ${emitterId}, made.listener from unnest(${ids.map(() => newId('subscription'))}::text[], ${ids}::text[]) as made(id, listener)`;
  }

  it("do not keep workers from the neighbour's ticks", async () => {
    const { attacker, sql } = world;
    const source = await attacker.deploy(EMITS);
    await makeListeners(source.id);
    const pauseMs = await world.unharmed(() =>
      longestPauseMs(world, async () => {
        for (let sent = 0; sent < EVENTS; sent++) {
          expect((await fetch(source.endpoint, { method: 'POST', body: '1' })).status).toBe(200);
          await sleep(EVERY_MS);
        }
      }),
    );
    expect((await attacker.api('DELETE', `/sources/${source.id}`)).status).toBeLessThan(300);
    await sql`delete from invocations where account_id = ${attacker.id}`;
    await sql`delete from emitters where account_id = ${attacker.id} and kind = 'workflow'`;
    expect(pauseMs).toBeLessThan(SOON_MS);
  });
});
