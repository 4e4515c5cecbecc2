import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { longestPauseMs } from '../../support/hostile-ticks.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';
import { post } from '../../support/server.ts';
import { ECHO } from '../../support/workflow-steps.ts';

// limits: Executions that wait for a year, each with a megabyte that it has given its next run.
describe('contexts-of-reruns', () => {
  const world = hostile({ ownAccounts: true });

  const MAX = 4 * 1024 * 1024;
  const EXECUTIONS = 6;

  it('count with it, and fail with the limit where there is no room for it', async () => {
    const { attacker, sql } = world;
    await world.limit({ maxWaitingBytes: MAX });
    const flow = await makeWorkflow(attacker, {
      steps: [`return $.flow.rerun(365 * 86_400_000, 'x'.repeat(1_000_000));`],
    });
    let started = 0;
    await world.unharmed(async () => {
      for (let n = 0; n < EXECUTIONS; n++) {
        expect((await fetch(flow.endpoint, { method: 'POST', body: '1' })).status).toBe(200);
        await untilExecutions(sql as never, flow.id, ++started, ['waiting', 'failed']);
      }
    });
    const executions = await untilExecutions(sql as never, flow.id, started, ['waiting', 'failed']);
    const failed = executions.filter(({ status }) => status === 'failed');
    expect(failed.length).toBeLessThan(started);
    expect(failed.length).toBeGreaterThanOrEqual(EXECUTIONS / 2);
    for (const { error } of failed) {
      expect(error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxWaitingBytes', value: MAX } });
    }
    const [given] = await sql<{ bytes: number }[]>`
    select sum(octet_length(context))::int4 as bytes from execution_waits where account_id = ${attacker.id}`;
    expect(given?.bytes).toBeGreaterThan(1_000_000);
    expect(given?.bytes).toBeLessThanOrEqual(MAX);
    expect((await attacker.api('DELETE', `/workflows/${flow.id}`)).status).toBeLessThan(300);
  });
});

// limits: Workflows of a hundred steps in eight kilobytes: each step would have a megabyte of
// default values.
describe('defaults-in-every-step', () => {
  const world = hostile({ ownAccounts: true });

  const MAX_BYTES = 8 * 1024 * 1024;
  const LARGE = `const props = {};
for (let i = 0; i < 16; i++) props['p' + i] = { type: 'string', default: String.fromCharCode(97 + i).repeat(60_000) };
export default { name: 'Large', version: '1', type: 'action', props, run() {} };`;

  it('are refused before they are put together, and nothing of them is kept', async () => {
    const { attacker, sql } = world;
    const { id } = (await attacker.api('POST', '/components', { component_code: LARGE })).body.data as { id: string };
    const steps = Array.from({ length: 100 }, (_, i) => ({ namespace: `s${i}`, component_id: id }));
    const small = await attacker.api('POST', '/workflows', { name: 'Small' });
    const path = `/workflows/${small.body.data.id}`;
    const answers = await world.unharmed(() =>
      Promise.all([
        ...Array.from({ length: 6 }, () => attacker.api('POST', '/workflows', { steps })),
        attacker.api('PUT', path, { steps }),
        attacker.api('POST', `${path}/test`, { steps }),
      ]),
    );
    for (const { status, body } of answers) {
      expect([status, body.limit]).toEqual([
        400,
        { name: 'maxWorkflowVersionBytes', value: MAX_BYTES, used: expect.any(Number) },
      ]);
      // It was not put together first.
      expect(body.limit.used).toBeLessThan(MAX_BYTES * 2);
    }
    expect(await sql`select from deployments where account_id = ${attacker.id}`).toHaveLength(1);
  });
});

// fairness: Thousands of executions that wait for the same moment, at which each is a job of its
// own.
describe('executions-that-wake-together', () => {
  const world = hostile({ ownAccounts: true });

  const EXECUTIONS = longRun(720, 2_100);
  const AT_ONCE = 60;
  /** With all jobs in the order of their time it was as long as it took to wake them all. */
  const SOON_MS = 2_500;

  it("come after the neighbour's ticks", async () => {
    const { attacker } = world;
    await world.limit({ maxRequestsPerSecond: 0 });
    const flow = await makeWorkflow(attacker, { steps: ['$.flow.delay(3_600_000);'] });
    for (let sent = 0; sent < EXECUTIONS; sent += AT_ONCE) {
      const requests = Array.from({ length: AT_ONCE }, () => fetch(flow.endpoint, { method: 'POST', body: '1' }));
      for (const answer of await Promise.all(requests)) await answer.arrayBuffer();
    }
    const { sql } = world;
    const waiting = () => sql`select from execution_waits where workflow_id = ${flow.id}`;
    await eventually(async () => (await waiting()).length === EXECUTIONS, { timeoutMs: 60_000, what: 'all to wait' });
    let tookMs = 0;
    const wake = async () => {
      const beganMs = performance.now();
      await sql.begin(async (tx) => {
        await tx`update execution_waits set wake_at = now() where workflow_id = ${flow.id}`;
        await tx`
        update graphile_worker._private_jobs set run_at = now()
        where key in (select 'wake:' || execution_id from execution_waits where workflow_id = ${flow.id})`;
      });
      await eventually(async () => (await waiting()).length === 0, { timeoutMs: 60_000, what: 'all to be woken' });
      tookMs = performance.now() - beganMs;
    };
    const pauseMs = await world.unharmed(() => longestPauseMs(world, wake));
    expect((await attacker.api('DELETE', `/workflows/${flow.id}`)).status).toBeLessThan(300);
    expect(pauseMs).toBeLessThan(Math.max(SOON_MS, tookMs / 2));
  });
});

// limits: Workflows whose props are as many, as long and as deep expressions as a request can
// hold.
describe('expressions', () => {
  const world = hostile({ ownAccounts: true });

  /** Eighty are as many as a request can hold. */
  const STEPS = longRun(20, 80);

  it('are refused before they keep the node busy, and the neighbour is served', async () => {
    const { attacker } = world;
    const values = {
      many: '{{1}}'.repeat(13_000),
      long: `{{${'1 + '.repeat(15_000)}1}}`,
      deep: `{{${'['.repeat(4_900)}${']'.repeat(4_900)}}}`.repeat(6),
      functions: `{{${'a=>'.repeat(3_000)}1}}`.repeat(6),
      unclosed: '{{"'.repeat(15_000),
      braces: '{'.repeat(60_000),
    };
    await world.unharmed(async () => {
      for (const [name, text] of Object.entries(values)) {
        const steps = Array.from({ length: STEPS }, (_, i) => ({
          namespace: `s${i}`,
          component_code: ECHO,
          props: { text },
        }));
        const { status } = await attacker.api('POST', '/workflows', { steps });
        expect([name, status]).toEqual([name, 400]);
      }
    });
  });
});

// limits: A workflow of twenty steps which each log six megabytes and fail, and whose failures the
// next step passes over.
describe('failures-that-are-passed', () => {
  const world = hostile({ ownAccounts: true });

  const STEPS = 20;
  const LINES = 380;
  const MAX_BYTES = 6 * 1024 * 1024;

  it('ends where all of them have put out what one execution may', async () => {
    const { attacker } = world;
    const code = action(`for (let i = 0; i < ${LINES}; i++) console.log('a'.repeat(16_000)); throw new Error('on');`);
    const ended = await world.unharmed(async () => {
      const made = await attacker.api('POST', '/workflows', {
        name: 'Goes on',
        triggers: [{ type: 'http' }],
        steps: Array.from({ length: STEPS }, (_, i) => ({
          namespace: `step${i}`,
          component_code: code,
          on_error: 'continue',
        })),
      });
      const { id, triggers } = made.body.data;
      await post(triggers[0].endpoint_url, {});
      return eventually(async () => {
        const { body } = await attacker.api('GET', `/workflows/${id}/executions?status=failed`);
        return body.data[0] as { id: string } | undefined;
      });
    });
    // Afterwards: its megabytes are read here, in the process that measures what the neighbour
    // sees.
    const { body } = await attacker.api('GET', `/executions/${ended.id}`);
    const limit = { name: 'maxRunOutputBytes', value: MAX_BYTES, used: expect.any(Number) };
    expect(body.data.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit });
    expect(body.data.steps).toMatchObject({ step0: { status: 'continued' }, step1: { status: 'failed' } });
    expect(body.data.steps.step2).toBeUndefined();
    const [{ kept } = { kept: 0 }] = await world.sql<{ kept: number }[]>`
    select sum(octet_length(logs))::float8 as kept from execution_steps where execution_id = ${ended.id}`;
    expect(kept).toBeGreaterThan(MAX_BYTES / 2);
    expect(kept).toBeLessThan(1.2 * MAX_BYTES);
  });
});

// limits: Replays without end of an execution of a workflow that takes none of them, each a copy
// of its event.
describe('replays', () => {
  const world = hostile({ ownAccounts: true });
  const MAX = 20;

  it('are refused by the name of the limit beyond what may wait', async () => {
    const { attacker, sql } = world;
    await world.limit({ maxQueuedInvocations: MAX });
    const flow = await makeWorkflow(attacker, { steps: ['return 1;'] });
    const started = await attacker.api('POST', `/workflows/${flow.id}/run`, {});
    const id = started.body.data.execution_id as string;
    await eventually(async () => (await attacker.api('GET', `/executions/${id}`)).body.data.status === 'succeeded');
    const paused = { settings: { throttle: { limit: 0, interval_seconds: 1 } } };
    expect((await attacker.api('PUT', `/workflows/${flow.id}`, paused)).status).toBe(200);
    const replay = async () => attacker.api('POST', `/executions/${id}/replay`, {});
    const refusal = await world.unharmed(async () => {
      for (let tries = 0; tries < 4 * MAX; tries++) {
        const { status, text } = await replay();
        if (status !== 200) return [status, text];
      }
      return [];
    });
    expect(refusal).toEqual([429, expect.stringContaining('maxQueuedInvocations')]);
    const [waiting] = await sql<{ count: number }[]>`
    select count(*)::int as count from invocations where source_id = ${flow.id}`;
    expect(waiting?.count).toBeLessThanOrEqual(MAX);
  });
});
