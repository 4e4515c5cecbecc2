import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { action, letTimePass, readSteps, untilExecutions } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { eventually } from '../../support/eventually.ts';
import { startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { insertTriggered, type WorkflowParts } from '../../support/workflow-rows.ts';

let headwater: Headwater;
beforeAll(async () => {
  headwater = await startHeadwater();
});
afterAll(() => headwater.stop());

const workflow = (parts: Omit<WorkflowParts, 'accountId'>) => insertTriggered(headwater, parts);

const LAST = { namespace: 'last', code: action('return steps.wait ?? null;') };
const SUSPENDED = { namespace: 'wait', code: action('$.export("links", $.flow.suspend()); return "asked";') };

/** One that waits, with the links that its step was given. */
async function suspended(id: string) {
  const [execution] = await untilExecutions(headwater.sql, id, 1, ['waiting']);
  const links = execution?.steps[0]?.exports.links as { resume_url: string; cancel_url: string };
  return { execution, ...links };
}

it('a delay holds nothing but rows, and the workflow goes on after it', async () => {
  const { id, endpoint } = await workflow({
    steps: [
      {
        namespace: 'wait',
        code: action('$.flow.delay(300); $.send.emit("before"); console.log("before"); return "slept";'),
      },
      { namespace: 'last', code: action('$.send.emit("after"); return steps.wait.$return_value;') },
    ],
  });
  const before = Date.now();
  await post(endpoint, {});
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  expect(Date.now() - before).toBeGreaterThanOrEqual(300);
  expect(execution).toMatchObject({
    status: 'succeeded',
    steps: [{ value: 'slept', status: 'done' }, { value: 'slept' }],
  });
  expect(await headwater.sql`select from execution_waits`).toHaveLength(0);
  const events = await headwater.sql<{ data: string }[]>`select data from events where emitter_id = ${id} order by seq`;
  expect(events.map(({ data }) => data)).toEqual(['"before"', '"after"']);
});

it('a suspended execution goes on with the data of the resuming request, once', async () => {
  const { id, endpoint } = await workflow({ steps: [SUSPENDED, LAST] });
  await post(endpoint, {});
  const { resume_url: resumeUrl } = await suspended(id);
  const [wait] = await headwater.sql<{ hours: number }[]>`
    select extract(epoch from wake_at - now())::float8 / 3600 as hours from execution_waits`;
  expect(wait?.hours).toBeCloseTo(24, 1);
  expect((await fetch(resumeUrl, { method: 'HEAD' })).status).toBe(204);
  const answer = await post(resumeUrl, { approved: true });
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'resumed' }]);
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  expect(execution?.steps[1]?.value).toMatchObject({ $resume_data: { approved: true }, $return_value: 'asked' });
  expect((await post(resumeUrl, { approved: false })).status).toBe(404);
});

it('the data of a resume are JSON, the fields of a form, text, or the parameters of a link', async () => {
  const file = new FormData();
  file.append('note', 'é');
  file.append('f', new File(['x'], 'a.txt'));
  const latin1 = { 'content-type': 'application/x-www-form-urlencoded; charset=iso-8859-1' };
  for (const [request, expected] of [
    [{ method: 'POST', body: 'yes, go on' }, 'yes, go on'],
    [{ method: 'POST' }, null],
    [
      { method: 'POST', body: new URLSearchParams({ approved: 'yes & no', by: 'Zoë' }) },
      { approved: 'yes & no', by: 'Zoë' },
    ],
    [{ method: 'POST', body: new Uint8Array(Buffer.from('by=Zo\xeb', 'latin1')), headers: latin1 }, { by: 'Zoë' }],
    [
      { method: 'POST', body: file },
      { note: 'é', f: expect.objectContaining({ filename: 'a.txt', content: 'eA==' }) },
    ],
    // As `curl -d` announces it.
    [{ method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/x-www-form-urlencoded' } }, { a: 1 }],
    [{ method: 'GET' }, { approved: 'yes' }],
  ] as const) {
    const { id, endpoint } = await workflow({ steps: [SUSPENDED, LAST] });
    await post(endpoint, {});
    const { resume_url: resumeUrl } = await suspended(id);
    const query = request.method === 'GET' ? '?approved=yes' : '';
    const page = await fetch(resumeUrl + query, {
      ...request,
      headers: { ...('headers' in request ? request.headers : {}), accept: 'text/html' },
    });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('The workflow goes on')]);
    const [execution] = await untilExecutions(headwater.sql, id, 1);
    expect(execution?.steps[1]?.value).toMatchObject({ $resume_data: expected });
  }
});

it('a suspended execution without a resume goes on without data when its time has come', async () => {
  const { id, endpoint } = await workflow({ steps: [SUSPENDED, LAST] });
  await post(endpoint, {});
  const { execution } = await suspended(id);
  await letTimePass(headwater.sql, execution?.id ?? '');
  const [ended] = await untilExecutions(headwater.sql, id, 1, ['succeeded']);
  expect(ended?.steps[1]?.value).not.toHaveProperty('$resume_data');
  expect(ended?.steps.map(({ status }) => status)).toEqual(['done', 'done']);
});

it('a request that resumes before the step has ended is not lost', async () => {
  // The service that the step calls resumes it while the step still runs.
  const answering = createServer((request, response) => {
    void post(`${headwater.url}${request.url}`, { early: 1 }).then(({ status }) => response.end(String(status)));
  }).listen(0, '127.0.0.1');
  await once(answering, 'listening');
  const { port } = answering.address() as AddressInfo;
  const { id, endpoint } = await workflow({
    steps: [
      {
        namespace: 'wait',
        code: action(`const { pathname } = new URL($.flow.suspend().resume_url);
          return await (await fetch("http://127.0.0.1:${port}" + pathname)).text();`),
      },
      LAST,
    ],
  });
  await post(endpoint, {});
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  answering.close();
  expect(execution?.steps[1]?.value).toEqual({ $return_value: '200', $resume_data: { early: 1 } });
});

it.each([
  { after: 'a rerun', settings: {}, first: '$.flow.rerun(1); return;' },
  { after: 'a failure', settings: { retries: 1 }, first: 'throw new Error("not yet");' },
])('a request that resumes a later run of a step, after $after, before it has ended is not lost', async (again) => {
  const { settings, first } = again;
  const answering = createServer((request, response) => {
    void post(`${headwater.url}${request.url}`, { early: 2 }).then(({ status }) => response.end(String(status)));
  }).listen(0, '127.0.0.1');
  await once(answering, 'listening');
  const { port } = answering.address() as AddressInfo;
  const { id, endpoint } = await workflow({
    settings,
    steps: [
      {
        namespace: 'wait',
        code: action(`if ($.context.run.runs === 1) { ${first} }
          const { pathname } = new URL($.flow.suspend().resume_url);
          return await (await fetch("http://127.0.0.1:${port}" + pathname)).text();`),
      },
      LAST,
    ],
  });
  await post(endpoint, {});
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  answering.close();
  expect(execution?.steps[1]?.value).toEqual({ $return_value: '200', $resume_data: { early: 2 } });
  expect(await headwater.sql`select from execution_waits where workflow_id = ${id}`).toHaveLength(0);
});

it('a request that resumes at the moment the step ends is not lost', async () => {
  const statuses: number[] = [];
  const desk = createServer((request, response) => {
    response.end();
    const afterMs = Number(new URL(request.url ?? '', headwater.url).searchParams.get('after'));
    setTimeout(() => {
      void post(`${headwater.url}${request.url}`, { yes: 1 }).then(({ status }) => statuses.push(status));
    }, afterMs);
  });
  desk.listen(0, '127.0.0.1');
  await once(desk, 'listening');
  const { port } = desk.address() as AddressInfo;
  const { id, endpoint } = await workflow({
    steps: [
      {
        namespace: 'wait',
        code: action(`const { pathname } = new URL($.flow.suspend().resume_url);
          await fetch('http://127.0.0.1:${port}' + pathname + '?after=' + steps.trigger.event.body.afterMs);`),
      },
    ],
  });
  const RUNS = 400;
  for (let n = 0; n < RUNS; n += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => post(endpoint, { afterMs: i })));
    await eventually(() => statuses.length === n + 20, { what: 'the answers' });
  }
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  await untilExecutions(headwater.sql, id, RUNS, ['succeeded']);
  desk.close();
});

it('the cancel URL ends an execution that waits', async () => {
  const { id, endpoint } = await workflow({ steps: [SUSPENDED, LAST] });
  await post(endpoint, {});
  const { cancel_url: cancelUrl, resume_url: resumeUrl } = await suspended(id);
  expect((await fetch(cancelUrl)).status).toBe(200);
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  expect(execution).toMatchObject({ status: 'cancelled', steps: [{ namespace: 'wait', status: 'cancelled' }] });
  const { data: shown } = await headwater.api('GET', `/executions/${execution?.id}`);
  expect(shown.steps.wait).toMatchObject({ status: 'cancelled', $return_value: 'asked' });
  expect(await headwater.sql`select from invocations where source_id = ${id}`).toHaveLength(0);
  expect([(await fetch(resumeUrl)).status, (await fetch(cancelUrl)).status]).toEqual([404, 404]);
});

it('a token of another execution, a changed one and none at all are not found', async () => {
  const { id, endpoint } = await workflow({ steps: [SUSPENDED, LAST] });
  await post(endpoint, {});
  await post(endpoint, {});
  const waiting = await untilExecutions(headwater.sql, id, 2, ['waiting']);
  const urls = waiting.map((execution) => new URL(execution.steps[0]?.exports.links.resume_url as string).pathname);
  const [, , firstId, firstToken] = (urls[0] ?? '').split('/');
  const [, , , secondToken] = (urls[1] ?? '').split('/');
  const changed = `${(firstToken ?? '').slice(0, -1)}${firstToken?.endsWith('A') === true ? 'B' : 'A'}`;
  for (const token of [secondToken, changed, '0-1-x', 'x'.repeat(5_000), '%00']) {
    expect((await post(`${headwater.url}/resume/${firstId}/${token}`, {})).status).toBe(404);
  }
  expect(await untilExecutions(headwater.sql, id, 2, ['waiting'])).toHaveLength(2);
});

it('rerun runs the same step again, with its context, until it has had enough', async () => {
  const { id, endpoint } = await workflow({
    steps: [
      {
        namespace: 'poll',
        code: action('$.flow.rerun(10, { seen: ($.context.run.context?.seen ?? 0) + 1 }, 2); return $.context.run;'),
      },
      { namespace: 'last', code: action('return steps.poll.$return_value;') },
    ],
  });
  await post(endpoint, {});
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  expect(execution?.steps).toMatchObject([
    { namespace: 'poll', status: 'done', runs: 3, value: { runs: 3, context: { seen: 2 } } },
    { namespace: 'last', value: { runs: 3, context: { seen: 2 } } },
  ]);
  expect(await headwater.sql`select from execution_waits where workflow_id = ${id}`).toHaveLength(0);
});

it('deleting a workflow cancels waiting executions, and the steps that they wait after or run again', async () => {
  const rerun = { namespace: 'poll', code: action('$.flow.rerun(3_600_000);') };
  const first = { namespace: 'first', code: action('') };
  const flows = [await workflow({ steps: [first, SUSPENDED, LAST] }), await workflow({ steps: [first, rerun] })];
  for (const { id, endpoint } of flows) {
    await post(endpoint, {});
    await untilExecutions(headwater.sql, id, 1, ['waiting']);
    expect((await headwater.api('DELETE', `/workflows/${id}`)).status).toBe(204);
    const [execution] = await untilExecutions(headwater.sql, id, 1, ['cancelled']);
    expect(execution?.steps.map(({ status }) => status)).toEqual(['done', 'cancelled']);
    const jobs = await headwater.sql`select from graphile_worker.jobs where key = ${`wake:${execution?.id}`}`;
    expect(jobs).toHaveLength(0);
  }
});

it('a rerun that is resumed before its time gets the data of the request', async () => {
  const { id, endpoint } = await workflow({
    steps: [
      {
        namespace: 'poll',
        code: action(`const { run } = $.context;
          if (run.runs === 1) $.export("links", $.flow.rerun(3_600_000, "mine"));
          return run;`),
      },
    ],
  });
  await post(endpoint, {});
  const { resume_url: resumeUrl } = await suspended(id);
  await post(resumeUrl, { done: true });
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  expect(execution?.steps[0]?.value).toEqual({ runs: 2, context: 'mine', callback_request: { body: { done: true } } });
});

it('a step that fails is tried again as often as the settings say, and those before it are not', async () => {
  const receiver = await startReceiver();
  const { id, endpoint } = await workflow({
    settings: { retries: 2 },
    steps: [
      { namespace: 'before', code: action(`await fetch("${receiver.url}/before");`) },
      {
        namespace: 'flaky',
        code: action(`await fetch("${receiver.url}/flaky"); throw new Error("run " + $.context.run.runs);`),
      },
    ],
  });
  await post(endpoint, {});
  for (const runs of [1, 2]) {
    const waiting = await eventually(async () => {
      const [wait] = await headwater.sql<{ execution_id: string; seconds: number }[]>`
        select execution_id, extract(epoch from wake_at - created_at)::float8 as seconds from execution_waits
        where workflow_id = ${id} and kind = 'retry' and failures = ${runs}`;
      return wait;
    });
    expect(waiting.seconds).toBeGreaterThan(runs === 1 ? 3.5 : 15);
    expect(waiting.seconds).toBeLessThan(runs === 1 ? 6.5 : 25);
    expect((await readSteps(headwater.sql, waiting.execution_id))[1]).toMatchObject({ status: 'failed', runs });
    await letTimePass(headwater.sql, waiting.execution_id);
  }
  const [execution] = await untilExecutions(headwater.sql, id, 1, ['failed']);
  expect(execution).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('run 3') } });
  expect(receiver.requests.map(({ url }) => url)).toEqual(['/before', '/flaky', '/flaky', '/flaky']);
  // Only the end is an error that others hear of.
  expect(await headwater.sql`select from events where emitter_id = ${id}`).toHaveLength(1);
  await receiver.stop();
});
