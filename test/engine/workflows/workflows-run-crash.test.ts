import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { action, readSteps, untilExecutions } from '../../support/executions.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { killNode, post, startServer, type TestServer } from '../../support/server.ts';
import { insertDeployment, insertWorkflow, type StepSource } from '../../support/workflow-rows.ts';

let test: TestDatabase;
let receiver: Receiver;
let accountId: string;

beforeAll(async () => {
  test = await createTestDatabase();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await test.drop();
});

async function start(): Promise<TestServer> {
  const server = await startServer({ databaseUrl: test.url });
  accountId = (await server.api('GET', '/users/me/limits')).body.data.account_id as string;
  return server;
}

async function workflow(server: TestServer, steps: StepSource[], customResponse = false) {
  const made = await insertWorkflow(test.db.sql, { accountId, steps, customResponse });
  return { ...made, endpoint: `${server.url}/e/${made.endpointKey}` };
}

/** Asks the receiver, and returns its answer. */
const asking = (namespace: string): StepSource => ({
  namespace,
  code: action(`const answer = await fetch("${receiver.url}/${namespace}/" + steps.trigger.event.body.n);
    $.send.emit({ from: "${namespace}" });
    return { n: steps.trigger.event.body.n, pid: await answer.text() };`),
});

const asked = (namespace: string) =>
  receiver.requests.filter(({ url }) => url.startsWith(`/${namespace}/`)).map(({ url }) => url);

describe('kill -9 of a node', () => {
  it('in the middle of executions repeats no completed step, and stores their sends once', async () => {
    const first = await start();
    receiver.answer = ({ url }) => (url.startsWith('/second/') ? { delayMs: 60_000 } : { body: 'before' });
    const { id, endpoint } = await workflow(first, [asking('first'), asking('second'), asking('third')]);
    await Promise.all([1, 2, 3].map((n) => post(endpoint, { n })));
    await eventually(() => asked('second').length === 3);
    await killNode(first, test.db.sql);
    expect(await test.db.sql`select from executions where workflow_id = ${id}`).toHaveLength(0);

    receiver.answer = { body: 'after' };
    const second = await start();
    const executions = await untilExecutions(test.db.sql, id, 3);
    expect(asked('first').toSorted()).toEqual(['/first/1', '/first/2', '/first/3']);
    expect(asked('second')).toHaveLength(6);
    expect(asked('third').toSorted()).toEqual(['/third/1', '/third/2', '/third/3']);
    for (const { status, steps } of executions) {
      const n = (steps[0]?.value as { n: number } | undefined)?.n;
      expect(status).toBe('succeeded');
      expect(steps.map(({ value }) => value)).toEqual([
        { n, pid: 'before' },
        { n, pid: 'after' },
        { n, pid: 'after' },
      ]);
    }
    // One of each step and execution: those of the first step were stored before the crash.
    expect(await test.db.sql`select from events where emitter_id = ${id}`).toHaveLength(9);
    await second.stop();
  });

  it('while executions wait loses none of them, and each goes on with its own version', async () => {
    const first = await start();
    receiver.answer = {};
    const wait = { namespace: 'wait', code: action('$.export("links", $.flow.suspend());') };
    const last = (text: string) => ({
      namespace: 'last',
      code: action(`return "${text} " + steps.wait.$resume_data;`),
    });
    const { id, endpoint, deploymentId } = await workflow(first, [wait, last('old')]);
    await post(endpoint, {});
    const [waiting] = await untilExecutions(test.db.sql, id, 1, ['waiting']);
    await insertDeployment(test.db.sql, id, { accountId, steps: [last('new')], triggers: [] });
    await killNode(first, test.db.sql);

    const second = await start();
    const { pathname } = new URL(waiting?.steps[0]?.exports.links.resume_url as string);
    expect((await post(second.url + pathname, 'go')).status).toBe(200);
    const [execution] = await untilExecutions(test.db.sql, id, 1, ['succeeded']);
    expect(execution).toMatchObject({ deploymentId, context: { deployment_id: deploymentId } });
    expect(execution?.steps[1]?.value).toBe('old go');
    await second.stop();
  });
});

it('a node that is stopped lets the step under way end, and another goes on after it', async () => {
  const [first, second] = await Promise.all([start(), start()]);
  const { id, endpoint } = await workflow(first, [asking('held'), asking('next')]);
  receiver.requests.length = 0;
  receiver.answer = ({ url }) => (url.startsWith('/held/') ? { delayMs: 500 } : {});
  await post(endpoint, { n: 1 });
  await eventually(() => asked('held').length === 1);
  await first.stop();
  const [execution] = await untilExecutions(test.db.sql, id, 1);
  expect(execution?.status).toBe('succeeded');
  expect([asked('held').length, asked('next').length]).toEqual([1, 1]);
  await second.stop();
});

it('a node that was taken for dead while it ran a step stores nothing of it', async () => {
  const first = await start();
  receiver.requests.length = 0;
  receiver.answer = { delayMs: 1_000, body: 'late' };
  const { id, endpoint } = await workflow(first, [asking('slow'), asking('after')], true);
  const answering = post(endpoint, { n: 1 });
  await eventually(() => asked('slow').length === 1);
  const [held] = await test.db.sql<{ id: string }[]>`
    update invocations set leased_by = 'node_other' where source_id = ${id} returning id`;
  expect((await answering).status).toBe(202);
  expect(await readSteps(test.db.sql, held?.id ?? '')).toEqual([]);
  expect(asked('after')).toEqual([]);
  await test.db.sql`delete from invocations where id = ${held?.id ?? ''}`;
  await first.stop();
});
