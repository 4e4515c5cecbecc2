// limits: Answers that are a byte too large, or given up before their end, or redirects with a body: none of them reaches the code.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();
const BODY = 'x'.repeat(400_000);
const MOST = 2_000_000;
const server = rawServer((socket, request) => {
  const redirect = request.startsWith('GET /redirects') ? 'location: /too-large\r\n' : '';
  socket.end(response(redirect, BODY, redirect === '' ? '200 OK' : '302 Found'));
});
const wastes = () => `
  for (let n = 0; n < 20; n++) {
    const path = n % 2 === 0 ? '/too-large' : '/redirects';
    try { await fetch('${server.url}' + path) } catch (error) { if (error.limit?.name === 'maxDownloadBytesPerRun') throw error; }
  }`;
const OVER = { code: 'RESOURCE_LIMIT', limit: { name: 'maxDownloadBytesPerRun', value: MOST } };

it('count for what a run may receive, of a source and of a step', async () => {
  await world.limit({ maxFetchResponseBytes: 399_999, maxDownloadBytesPerRun: MOST });
  const { ran, failed } = await world.unharmed(async () => {
    const flow = await makeWorkflow(world.attacker, { steps: [wastes()] });
    const started = await world.attacker.api('POST', `/workflows/${flow.id}/run`, {});
    const path = `/executions/${started.body.data.execution_id}`;
    const execution = await eventually(async () => {
      const { body } = await world.attacker.api('GET', path);
      return body.data?.status === 'failed' && body.data;
    });
    return { ran: await world.attack(wastes()), failed: execution.error };
  });
  expect(ran.error).toMatchObject(OVER);
  expect(failed).toMatchObject(OVER);
});
