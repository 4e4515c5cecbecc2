import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

let headwater: Headwater;
beforeAll(async () => {
  headwater = await sharedHeadwater();
});
afterAll(() => headwater.stop());

const EXECUTIONS = 1_000;
const IN_FLIGHT = 64;

it(`${EXECUTIONS} executions, ${IN_FLIGHT} at a time, each run their steps once and have one end`, async () => {
  const { accountId, sql } = headwater;
  const fail =
    'if (steps.trigger.event.body.n % 10 === 9) throw new Error("ninth"); $.send.emit(steps.trigger.event.body.n);';
  const { id, endpointKey } = await insertWorkflow(sql, {
    accountId,
    customResponse: true,
    steps: [
      { namespace: 'a', code: action('return 1;') },
      { namespace: 'b', code: action(fail) },
      { namespace: 'c', code: action('$.respond({ status: 200, body: String(steps.trigger.event.body.n) });') },
    ],
  });
  let next = 0;
  const wrong: unknown[] = [];
  const client = async () => {
    for (let n = next++; n < EXECUTIONS; n = next++) {
      const answer = await post(`${headwater.url}/e/${endpointKey}`, { n });
      const text = await answer.text();
      const isRight = n % 10 === 9 ? answer.status === 400 : answer.status === 200 && text === String(n);
      if (!isRight) wrong.push([n, answer.status, text]);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
  expect(wrong).toEqual([]);
  await eventually(async () => (await sql`select from invocations where source_id = ${id}`).length === 0);
  const ends =
    await sql`select status, count(*)::int4 as count from executions where workflow_id = ${id} group by status order by status`;
  expect(ends).toEqual([
    { status: 'failed', count: EXECUTIONS / 10 },
    { status: 'succeeded', count: (EXECUTIONS * 9) / 10 },
  ]);
  const [steps] = await sql`
    select count(*)::int4 as count, max(runs) as runs from execution_steps
    where execution_id in (select id from executions where workflow_id = ${id})`;
  expect(steps).toEqual({ count: EXECUTIONS * 3 - EXECUTIONS / 10, runs: 1 });
  const emitted = await sql<{ data: string }[]>`select data from events where emitter_id = ${id} and channel = ''`;
  expect(new Set(emitted.map(({ data }) => data)).size).toBe((EXECUTIONS * 9) / 10);
  expect(emitted).toHaveLength((EXECUTIONS * 9) / 10);
});
