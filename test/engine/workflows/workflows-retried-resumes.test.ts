import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action, letTimePass, readSteps, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { insertTriggered, type WorkflowParts } from '../../support/workflow-rows.ts';

let headwater: Headwater;
beforeAll(async () => {
  headwater = await sharedHeadwater();
});
afterAll(() => headwater.stop());

const workflow = (parts: Omit<WorkflowParts, 'accountId'>) => insertTriggered(headwater, parts);

const LAST = { namespace: 'last', code: action('return steps.wait ?? null;') };

test("a resume of a step's run that then fails resumes its retry", async () => {
  const answering = createServer((request, response) => {
    void post(`${headwater.url}${request.url}`, { early: 3 }).then(({ status }) => response.end(String(status)));
  }).listen(0, '127.0.0.1');
  await once(answering, 'listening');
  const { port } = answering.address() as AddressInfo;
  const { id, endpoint } = await workflow({
    settings: { retries: 1 },
    steps: [
      {
        namespace: 'wait',
        code: action(`const { pathname } = new URL($.flow.suspend().resume_url);
          if ($.context.run.runs > 1) return;
          throw new Error(await (await fetch("http://127.0.0.1:${port}" + pathname)).text());`),
      },
      LAST,
    ],
  });
  await post(endpoint, {});
  const [failed] = await untilExecutions(headwater.sql, id, 1, ['waiting']);
  answering.close();
  expect(failed?.steps).toMatchObject([{ status: 'failed' }]);
  await letTimePass(headwater.sql, failed?.id ?? '');
  const [ended] = await untilExecutions(headwater.sql, id, 1);
  expect(ended).toMatchObject({ status: 'succeeded', steps: [{ runs: 2 }, { value: { $resume_data: { early: 3 } } }] });
});

test('a run in the stead of one that failed is given the request that led to that', async () => {
  const { id, endpoint } = await workflow({
    settings: { retries: 1 },
    steps: [
      {
        namespace: 'wait',
        code: action(`const { runs, context, callback_request } = $.context.run;
          if (runs === 1) return void $.export("links", $.flow.rerun(60000, { n: 1 }));
          if (runs === 2) throw new Error("not yet");
          return { context, callback_request };`),
      },
    ],
  });
  await post(endpoint, {});
  const [execution] = await untilExecutions(headwater.sql, id, 1, ['waiting']);
  expect((await post(execution?.steps[0]?.exports.links.resume_url as string, { job: 'done' })).status).toBe(200);
  await eventually(async () => (await readSteps(headwater.sql, execution?.id ?? ''))[0]?.status === 'failed');
  await letTimePass(headwater.sql, execution?.id ?? '');
  const [ended] = await untilExecutions(headwater.sql, id, 1);
  expect(ended?.steps[0]?.value).toEqual({ context: { n: 1 }, callback_request: { body: { job: 'done' } } });
});
