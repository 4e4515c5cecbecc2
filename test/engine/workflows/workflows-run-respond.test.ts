import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow, type StepSource } from '../../support/workflow-rows.ts';

let headwater: Headwater;
beforeAll(async () => {
  headwater = await sharedHeadwater();
});
afterAll(() => headwater.stop());

async function workflow(...steps: StepSource[]) {
  const { accountId } = headwater;
  const made = await insertWorkflow(headwater.sql, { steps, customResponse: true, accountId });
  return { ...made, endpoint: `${headwater.url}/e/${made.endpointKey}` };
}

describe('a workflow that answers its client itself', () => {
  it('does so at its end, with its last response', async () => {
    const { id, endpoint } = await workflow(
      { namespace: 'one', code: action('$.respond({ status: 201, headers: { "x-step": "one" }, body: { n: 1 } });') },
      {
        namespace: 'two',
        code: action('await $.respond({ status: 202, headers: { "x-step": "two" }, body: { n: 2 } });'),
      },
      { namespace: 'three', code: action('return 3;') },
    );
    const answer = await post(endpoint, {});
    expect([answer.status, answer.headers.get('x-step'), await answer.json()]).toEqual([202, 'two', { n: 2 }]);
    // The end was durable before the client was told.
    const rows = await headwater.sql`select status from executions where workflow_id = ${id}`;
    expect(rows).toMatchObject([{ status: 'succeeded' }]);
  });

  it('does so at once where it says so, and goes on', async () => {
    const gate = await startReceiver();
    gate.answer = { delayMs: 10_000 };
    const { id, endpoint } = await workflow(
      { namespace: 'one', code: action('await $.respond({ status: 200, body: "now", immediate: true });') },
      { namespace: 'two', code: action(`await fetch("${gate.url}");`) },
    );
    expect(await (await post(endpoint, {})).text()).toBe('now');
    expect(await headwater.sql`select from executions where workflow_id = ${id}`).toHaveLength(0);
    await gate.until(1);
    await gate.stop();
    await untilExecutions(headwater.sql, id, 1);
  });

  it('is answered for with 400 where it ends or fails without an answer', async () => {
    const bodies = ['return 1;', 'throw new Error("secret inside");'];
    const details = await Promise.all(
      bodies.map(async (body) => {
        const { endpoint } = await workflow({ namespace: 'one', code: action(body) });
        const answer = await post(endpoint, {});
        return [answer.status, ((await answer.json()) as { detail: string }).detail];
      }),
    );
    const silent = 'The workflow ran to its end without calling $.respond';
    expect(details).toEqual([
      [400, silent],
      [400, expect.stringMatching(/^The workflow failed before it responded; its owner finds why under exec_\w+$/)],
    ]);
  });

  it('answers that it exited where a step ends it before an answer, without the reason', async () => {
    const { id, endpoint } = await workflow(
      { namespace: 'one', code: action('$.flow.exit("a customer of no interest");') },
      { namespace: 'two', code: action('$.respond({ status: 201 });') },
    );
    const answer = await post(endpoint, {});
    const [execution] = await untilExecutions(headwater.sql, id, 1);
    expect(execution).toMatchObject({ status: 'exited', reason: 'a customer of no interest' });
    expect(answer.headers.get('x-headwater-run')).toBe(execution?.id);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'exited', execution_id: execution?.id }]);
  });

  it('answers with the response from before its exit', async () => {
    const { endpoint } = await workflow({
      namespace: 'one',
      code: action('$.respond({ status: 422, body: "not now" }); $.flow.exit("enough");'),
    });
    const answer = await post(endpoint, {});
    expect([answer.status, await answer.text()]).toEqual([422, 'not now']);
  });

  it('still answers with the response from before its failure', async () => {
    const { endpoint } = await workflow(
      { namespace: 'one', code: action('$.respond({ status: 200, body: "given" });') },
      { namespace: 'two', code: action('throw new Error("later");') },
    );
    expect(await (await post(endpoint, {})).text()).toBe('given');
  });

  it('answers with its response when it begins to wait, or that it was accepted', async () => {
    const given = await workflow(
      { namespace: 'one', code: action('$.respond({ status: 200, body: "given" }); $.flow.suspend();') },
      { namespace: 'two', code: action('return 1;') },
    );
    expect(await (await post(given.endpoint, {})).text()).toBe('given');
    const silent = await workflow({ namespace: 'one', code: action('$.flow.suspend();') });
    const answer = await post(silent.endpoint, {});
    const [execution] = await untilExecutions(headwater.sql, silent.id, 1, ['waiting']);
    expect([answer.status, await answer.json()]).toEqual([202, { status: 'waiting', execution_id: execution?.id }]);
  });

  it('tells the client that it was cancelled', async () => {
    const gate = await startReceiver();
    gate.answer = { delayMs: 1_000 };
    const { id, endpoint } = await workflow({
      namespace: 'one',
      code: action(`await fetch("${gate.url}"); $.respond({ status: 200 });`),
    });
    const answering = post(endpoint, {});
    await gate.until(1);
    const [running] = await headwater.sql<{ id: string }[]>`select id from invocations where source_id = ${id}`;
    expect((await headwater.api('POST', `/executions/${running?.id}/cancel`)).status).toBe(204);
    expect((await answering).status).toBe(400);
    expect(await untilExecutions(headwater.sql, id, 1)).toMatchObject([{ status: 'cancelled', steps: [] }]);
    await gate.stop();
  });
});
