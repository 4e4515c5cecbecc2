import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectMissed } from '../../../engine/src/runs/commit/missed.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { makeWorkflow } from '../../support/workflow-steps.ts';
import type { Json } from '../../support/json.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const RUN_ID = /^inv_[0-9A-Za-z]{20}$/;
const EXECUTION_ID = /^exec_[0-9A-Za-z]{20}$/;

/** Does what the request's body says. */
const source = (more = '', respond = false) => `export default { name: 'Source', version: '1', ${more}
  props: { http: { type: '$.interface.http', customResponse: ${respond} } },
  run({ body }) {
    const { emit = [], log, error, answer } = body ?? {};
    for (const one of emit) this.$emit(one, { id: one.id, name: one.name });
    if (log) console.log(log);
    if (error) throw new Error(error);
    if (answer) this.http.respond(answer);
  } };`;

const post = (url: string, body: unknown) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

async function send({ endpoint }: Pick<DeployedSource, 'endpoint'>, body: unknown): Promise<string> {
  const answer = await post(endpoint, body);
  const id = answer.headers.get('x-headwater-run') ?? '';
  expect(id).toMatch(RUN_ID);
  return id;
}

/** The only run of a trace, which has that id. */
async function runOf(id: string): Promise<Json> {
  const { status, data } = await hw.api('GET', `/traces/${id}`);
  expect([status, data.id, data.runs.length]).toEqual([200, id, 1]);
  expect(data.runs[0].id).toBe(id);
  return data.runs[0];
}

async function explained(id: string): Promise<string> {
  await hw.untilIdle();
  return (await runOf(id)).explanation;
}

interface Outcome {
  what: string;
  /** Strategy of the component. */
  dedupe?: 'unique' | 'greatest' | 'last';
  /** Sent before. */
  first?: unknown;
  body: unknown;
  says: string;
}

const ids = (...all: unknown[]) => ({ emit: all.map((id) => ({ id })) });

const OUTCOMES: Outcome[] = [
  { what: 'emits nothing', body: {}, says: 'ran, emitted nothing' },
  { what: 'only logs', body: { log: 'seen' }, says: 'ran, emitted nothing' },
  { what: 'emits', body: ids(1, 2), says: '2 events emitted' },
  {
    what: 'emits on a channel whose name looks like a built-in one',
    body: { emit: [{ id: 1, name: '$mine' }] },
    says: '1 event emitted',
  },
  { what: 'fails', body: { error: 'no' }, says: 'failed: COMPONENT_ERROR; emitted nothing' },
  {
    what: 'emits what is known',
    dedupe: 'unique',
    first: ids(42),
    body: ids(42),
    says: '1 event emitted, dropped by dedupe unique: id 42 was known',
  },
  {
    what: 'emits what is known in part',
    dedupe: 'unique',
    first: ids(1, 2),
    body: ids(1, 2, 3),
    says: '3 events emitted, 2 dropped by dedupe unique: ids 1, 2 were known',
  },
  {
    what: 'emits what is smaller',
    dedupe: 'greatest',
    first: ids(9),
    body: ids(5),
    says: '1 event emitted, dropped by dedupe greatest: id 5 was not greater than what came before',
  },
  {
    what: 'emits what is older',
    dedupe: 'last',
    first: ids('a', 'b'),
    body: ids('a', 'b'),
    says: '2 events emitted, 2 dropped by dedupe last: ids a, b were known, or came before what was',
  },
  {
    what: 'emits many that are known',
    dedupe: 'unique',
    first: ids(...Array.from({ length: 30 }, (_, i) => i)),
    body: ids(...Array.from({ length: 30 }, (_, i) => i)),
    says: `30 events emitted, 30 dropped by dedupe unique: ids ${Array.from({ length: 20 }, (_, i) => i).join(', ')}, … were known`,
  },
];

describe('a request to a source is found by the id in its answer', () => {
  test.each(OUTCOMES)('and its run that $what', async ({ dedupe, first, body, says }) => {
    const target = await hw.deploy(source(dedupe === undefined ? '' : `dedupe: '${dedupe}',`));
    if (first !== undefined) await explained(await send(target, first));
    const id = await send(target, body);
    expect(await explained(id)).toBe(says);
    const run = await runOf(id);
    expect(run).toMatchObject({ emitter_id: target.id, status: says.startsWith('failed') ? 'error' : 'ok' });
    expect(run.ran_ms).toBeGreaterThanOrEqual(0);
    expect(run.deduped?.strategy).toBe(dedupe);
  });

  test('each of many that one commit drops, past what it notes of listeners', () => {
    const missed = collectMissed();
    const runs = Array.from({ length: 3 * LIMITS.maxMissedRows }, (_, i) => `inv_${i}`);
    for (const invocationId of runs) {
      const run = {
        accountId: 'o_1',
        emitterId: 'dc_1',
        invocationId,
        traceId: invocationId,
        dedupe: 'unique' as const,
      };
      missed.deduped(run, ['same']);
    }
    const { rows } = missed.rows('dc_1', { ms: 1, seq: 0 }, 2);
    expect(rows.map((row) => [row.reason, row.invocationId])).toEqual(runs.map((id) => ['deduped', id]));
  });

  test('for each answer, and when its run fails before it answers', async () => {
    const target = await hw.deploy(source('', true));
    const cases: [body: unknown, status: number][] = [
      [{ answer: { status: 418, headers: { 'X-Headwater-Run': 'mine' }, body: 'tea' } }, 418],
      [{}, 400],
      [{ error: 'secret text' }, 400],
    ];
    for (const [body, status] of cases) {
      const answer = await post(target.endpoint, body);
      expect(answer.status).toBe(status);
      const id = answer.headers.get('x-headwater-run') ?? '';
      expect(id).toMatch(RUN_ID);
      await hw.untilIdle();
      expect((await runOf(id)).kind).toBe('http');
    }
  });

  test('not of one that was not accepted', async () => {
    const answer = await post(`${hw.url}/e/nobody`, {});
    expect([answer.status, answer.headers.get('x-headwater-run')]).toEqual([404, null]);
  });

  test('while it runs, and while its source is stopped', async () => {
    const slow = await hw.deploy(`export default { name: 'Slow', version: '1', props: { http: '$.interface.http' },
      async run() { await new Promise((done) => setTimeout(done, 1500)); } };`);
    const id = await send(slow, {});
    const run = await runOf(id);
    expect(run).toMatchObject({ status: 'running', node_id: expect.stringMatching(/^node_/) });
    expect(run.explanation).toBe(`is running on ${run.node_id}, or next there`);
    const stopped = `${id.slice(0, -4)}zzzz`;
    await hw.sql`
      insert into invocations (id, account_id, source_id, kind, event)
      values (${stopped}, ${hw.accountId}, ${slow.id}, 'http', '{}')`;
    expect((await runOf(stopped)).explanation).toBe('is queued: no node has begun it');
    await hw.sql`update emitters set active = false where id = ${slow.id}`;
    expect(await runOf(stopped)).toMatchObject({
      emitter_stopped: true,
      explanation: 'waits for Slow, which is stopped',
    });
    await hw.sql`delete from invocations where id = ${stopped}`;
    await hw.untilIdle();
  });

  test('by its owner alone', async () => {
    const target = await hw.deploy(source());
    const id = await send(target, {});
    await hw.untilIdle();
    const other = (await hw.admin('POST', '/accounts', { name: 'Other' })).data.api_key;
    expect((await hw.as(other)('GET', `/traces/${id}`)).status).toBe(404);
  });
});

test('a run by hand is found by its id, in the body and the header', async () => {
  const target = await hw.deploy(source());
  const answer = await fetch(`${hw.url}/v1/sources/${target.id}/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${hw.apiKey}` },
  });
  const { data } = (await answer.json()) as Json;
  expect(answer.headers.get('x-headwater-run')).toBe(data.invocation_id);
  expect(await explained(data.invocation_id)).toBe('ran, emitted nothing');
  expect((await runOf(data.invocation_id)).kind).toBe('manual');
});

test('a run that an event started leads to the trace that it is part of', async () => {
  const [first, second] = [
    await hw.deploy(source()),
    await hw.deploy("export default { name: 'B', version: '1', run() {} };"),
  ];
  await hw.api('POST', '/subscriptions', { emitter_id: first.id, listener_id: second.id });
  const id = await send(first, ids(1));
  await hw.untilIdle();
  const [child] = (await runOf(id)).events[0].listeners;
  expect(child.run.explanation).toBe('ran, emitted nothing');
  const { data } = await hw.api('GET', `/traces/${child.run.id}`);
  expect([data.id, data.runs[0].id]).toEqual([id, id]);
});

describe('a request to a workflow is found by the id in its answer', () => {
  const EXECUTIONS: { what: string; code: string; status: string; says: RegExp; also: object }[] = [
    {
      what: 'ends',
      code: "$.export('$summary', 'All good'); $.send.emit(1)",
      status: 'succeeded',
      says: /^ran 1 step, 1 event emitted$/,
      also: { steps: [{ summary: 'All good' }] },
    },
    {
      what: 'exits',
      code: "$.flow.exit('nothing new')",
      status: 'exited',
      says: /^exited in step only: nothing new$/,
      also: { reason: 'nothing new' },
    },
    {
      what: 'fails',
      code: "throw new Error('no')",
      status: 'failed',
      says: /^failed in step only: COMPONENT_ERROR$/,
      also: { error: { message: 'no' } },
    },
    {
      what: 'is delayed',
      code: '$.flow.delay(600000)',
      status: 'waiting',
      says: /^waits in step only until 20\d\d-.*Z$/,
      also: { waits: { kind: 'delay', until: expect.any(Number) } },
    },
    {
      what: 'is suspended',
      code: '$.flow.suspend(600000)',
      status: 'waiting',
      says: /^waits in step only for its resume URL to be called, until 20\d\d-.*Z$/,
      also: { waits: { kind: 'suspend', until: expect.any(Number) } },
    },
  ];

  test.each(EXECUTIONS)('and its execution that $what', async ({ code, status, says, also }) => {
    const steps = [{ namespace: 'only', component_code: action(code) }];
    const flow = await makeWorkflow(hw, { name: 'Flow', triggers: [{ type: 'http' }], steps });
    const answer = await post(flow.triggers[0].endpoint_url, {});
    const id = answer.headers.get('x-headwater-run') ?? '';
    expect([answer.status, id]).toEqual([200, expect.stringMatching(EXECUTION_ID)]);
    const run = await eventually(async () => {
      const { data } = await hw.api('GET', `/traces/${id}`);
      const [first] = data?.runs ?? [];
      // A trace is read piece by piece, and the end may be committed between two of them.
      return first?.status === status && says.test(first.explanation) && first;
    });
    expect(run).toMatchObject(also);
    const cancelled = await hw.api('POST', `/executions/${id}/cancel`);
    expect(cancelled.status).toBe(status === 'waiting' ? 204 : 409);
  });
});
