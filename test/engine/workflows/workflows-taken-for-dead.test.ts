import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow, type StepSource } from '../../support/workflow-rows.ts';

let hw: Headwater;
/** Namespaces of the steps that have asked, in their order. */
const asked: string[] = [];
/** Answers that are held back. */
const held: ServerResponse[] = [];
const receiver = createServer(({ url = '' }, response) => {
  asked.push(url.slice(1));
  if (url === '/second') held.push(response);
  else response.end();
});
let receiverUrl: string;

beforeAll(async () => {
  hw = await startHeadwater();
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await hw.stop();
  receiver.closeAllConnections();
  receiver.close();
});

const asking = (namespace: string): StepSource => ({
  namespace,
  code: action(`await fetch("${receiverUrl}/${namespace}"); return "${namespace}";`),
});

/** As another node does it that has not heard of this one for too long. */
async function declareDead(workflowId: string): Promise<void> {
  await hw.sql.begin(async (tx) => {
    await tx`delete from nodes`;
    await tx`update invocations set leased_by = null where source_id = ${workflowId}`;
    await tx`select graphile_worker.add_job('run-source', json_build_object('sourceId', ${workflowId}::text))`;
  });
}

it('a node that claims anew an execution that it still runs under its old id repeats no completed step', async () => {
  const { accountId, sql } = hw;
  const steps = ['first', 'second', 'third'].map(asking);
  const { id, endpointKey } = await insertWorkflow(sql, { accountId, steps });
  await post(`${hw.url}/e/${endpointKey}`, {});
  await eventually(() => held.length === 1);
  await declareDead(id);
  await eventually(() => held.length === 2);
  // Were both still running the step, their ends would meet in one commit.
  for (const response of held) response.end();
  const [execution] = await untilExecutions(sql, id, 1);
  await hw.untilIdle();
  expect(execution).toMatchObject({ status: 'succeeded', steps: [{}, {}, {}] });
  // The second step was under way when the lease was lost.
  expect(asked).toEqual(['first', 'second', 'second', 'third']);
});
