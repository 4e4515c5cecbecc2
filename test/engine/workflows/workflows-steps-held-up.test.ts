import type { RunOutcome } from '@headwater/sandbox-runtime';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startStallClock } from '../../../engine/src/fairness/stall-clock.ts';
import { afterStep } from '../../../engine/src/workflows/run/after-step.ts';
import { createHeldUp } from '../../../engine/src/workflows/run/held-up.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { childProcesses } from '../../support/child-processes.ts';
import { eventually } from '../../support/eventually.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow, type StepSource } from '../../support/workflow-rows.ts';

/* Delays that a step does not cause: they neither count as its time nor make it fail. */

let hw: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  [hw, receiver] = await Promise.all([startHeadwater(), startReceiver()]);
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});
beforeEach(() => {
  receiver.answer = {};
  receiver.requests.length = 0;
});

async function flow(steps: StepSource[]) {
  const made = await insertWorkflow(hw.sql, { accountId: hw.accountId, steps });
  return { ...made, endpoint: `${hw.url}/e/${made.endpointKey}` };
}

const asking = (namespace: string): StepSource => ({
  namespace,
  code: action(`await fetch("${receiver.url}/${namespace}"); return $.context.deadline;`),
});
const asked = (namespace: string) => receiver.requests.filter(({ url }) => url === `/${namespace}`).length;
const WALL_MS = 2_000;

test('time in which the database takes no commit is not the execution’s, and its deadline says so', async () => {
  await hw.limit({ executionWallMs: WALL_MS });
  try {
    const { id, endpoint } = await flow([{ namespace: 'first', code: action('return 1;') }, asking('second')]);
    const startedMs = Date.now();
    await hw.sql.begin(async (tx) => {
      // Simulates a transaction that holds up a commit.
      await tx`lock table execution_steps in exclusive mode`;
      await post(endpoint, {});
      await sleep(1.5 * WALL_MS);
      expect(asked('second')).toBe(0);
    });
    const [execution] = await untilExecutions(hw.sql, id, 1);
    expect(execution).toMatchObject({ status: 'succeeded', error: null });
    expect(asked('second')).toBe(1);
    // It was made anew when the step ran out of the time that was taken from it.
    expect(execution?.steps[1]?.value).toBeGreaterThanOrEqual(startedMs + 2 * WALL_MS);
  } finally {
    await hw.limit({ executionWallMs: null });
  }
});

test('the time of an execution is the run time of its steps together', async () => {
  await hw.limit({ executionWallMs: WALL_MS });
  try {
    const half = (namespace: string) => ({
      namespace,
      code: action(`await new Promise((done) => setTimeout(done, ${0.6 * WALL_MS}));`),
    });
    const { id, endpoint } = await flow(['first', 'second'].map(half));
    await post(endpoint, {});
    const [execution] = await untilExecutions(hw.sql, id, 1);
    expect(execution).toMatchObject({ error: { code: 'WALL_LIMIT', namespace: 'second' } });
  } finally {
    await hw.limit({ executionWallMs: null });
  }
});

function endSandboxes(): void {
  for (const { pid } of childProcesses()) process.kill(pid, 'SIGKILL');
}

test('a step whose process is killed from outside is run again, and given up where it dies alone time after time', async () => {
  let kills = LIMITS.maxInvocationAttempts - 1;
  receiver.answer = ({ url }) => {
    if (url === '/deadly' && kills-- > 0) endSandboxes();
    return {};
  };
  const { id, endpoint } = await flow([asking('before'), asking('deadly'), asking('after')]);
  await post(endpoint, {});
  const [lucky] = await untilExecutions(hw.sql, id, 1);
  expect(lucky).toMatchObject({ status: 'succeeded' });
  expect(asked('before')).toBe(1);

  kills = Number.POSITIVE_INFINITY;
  await post(endpoint, {});
  const [, poison] = await untilExecutions(hw.sql, id, 2);
  expect(poison).toMatchObject({
    status: 'failed',
    error: { code: 'RUN_ABANDONED', namespace: 'deadly' },
    steps: [{ status: 'done' }, { status: 'failed' }],
  });
  expect(asked('before')).toBe(2);

  kills = 0;
  const { data } = await hw.api('POST', `/executions/${poison?.id}/replay`, { from: 'failed' });
  const replayed = await eventually(async () =>
    (await untilExecutions(hw.sql, id, 3)).find((one) => one.id === data.execution_id),
  );
  expect(replayed).toMatchObject({ status: 'succeeded' });
  expect([asked('before'), asked('after')]).toEqual([2, 2]);
});

test('an execution that many nodes have taken is not given up for that', async () => {
  const { id } = await flow([asking('only')]);
  await hw.sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts, claim, place)
    values ('exec_taken_often', ${hw.accountId}, ${id}, 'manual', '{}', 9, 9, nextval('invocation_places'))`;
  await hw.sql`select graphile_worker.add_job('run-source', json_build_object('sourceId', ${id}::text))`;
  expect(await untilExecutions(hw.sql, id, 1)).toMatchObject([{ id: 'exec_taken_often', status: 'succeeded' }]);
});

const failedBy = (code: string, how: object = {}) =>
  ({ ok: false, fault: { code, message: '' }, innocent: false, cpuMs: 0, wallMs: 0, ...how }) as RunOutcome;
const own = { heldUpMs: 0, wallMs: 30_000, isTest: false };

test('outcomes of a step: its own faults end it, faults of others do not', async () => {
  const state = { tries: 1, crashes: 0, lateMs: 0 };
  const late = { ...own, heldUpMs: 2_000, outcome: failedBy('WALL_LIMIT', { wallMs: 30_000 }) };
  const crash = failedBy('SANDBOX_CRASHED', { innocent: true });
  expect(await afterStep(state, { ...own, outcome: failedBy('WALL_LIMIT') })).toBe('end');
  expect(await afterStep(state, late)).toBe('repeat');
  expect(await afterStep({ ...state, lateMs: 290_000 }, late)).toBe('end');
  expect(await afterStep({ ...state, lateMs: 290_000 }, { ...late, heldUpMs: 29_999 })).toBe('repeat');
  expect(await afterStep(state, { ...own, heldUpMs: 2_000, outcome: failedBy('CPU_LIMIT') })).toBe('end');
  expect(await afterStep(state, { ...own, outcome: crash })).toBe('repeat');
  const tired = { ...state, tries: LIMITS.maxInvocationAttempts };
  await expect(afterStep(tired, { ...own, outcome: crash })).rejects.toThrow('could not run the step');
  expect(await afterStep(tired, { ...own, isTest: true, outcome: crash })).toBe('end');
  const limit = { name: 'httpRunWallMs', value: 30_000, used: 30_001 } as const;
  const fault = { code: 'WALL_LIMIT' as const, message: 'it got no processor', limit };
  const starved = failedBy('WALL_LIMIT', { innocent: true, fault });
  expect(await afterStep(state, { ...own, outcome: starved })).toBe('repeat');
  expect(await afterStep(tired, { ...own, outcome: starved })).toBe('end');
  const dying = { ...state, crashes: LIMITS.maxInvocationAttempts - 1 };
  expect(await afterStep(dying, { ...own, outcome: failedBy('', { innocent: true, diedAlone: true }) })).toBe(
    'abandon',
  );
});

test('a process that stood still knows for how long, also before its timers run', () => {
  let nowMs = 0;
  const clock = startStallClock(() => nowMs);
  nowMs += 300;
  expect(clock.totalMs()).toBe(0);
  nowMs += 15_000;
  const stalled = clock.totalMs();
  expect(stalled).toBeGreaterThan(14_000);
  expect(clock.totalMs()).toBe(stalled);
  clock.stop();
});

test('waits beside each other count once, and short ones not at all', async () => {
  const heldUp = createHeldUp(() => 0);
  await heldUp.during(sleep(50));
  expect(heldUp.ms()).toBe(0);
  const startedMs = performance.now();
  await Promise.all([heldUp.during(sleep(1_100)), heldUp.during(sleep(1_100))]);
  expect(heldUp.ms()).toBeGreaterThanOrEqual(1_000);
  expect(heldUp.ms()).toBeLessThanOrEqual(performance.now() - startedMs + 1);
});
