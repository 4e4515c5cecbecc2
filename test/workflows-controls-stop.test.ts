import { LIMITS } from '@headwater/shared';
import { expect, it } from 'vitest';

import { eventually } from './support/eventually.ts';
import { action } from './support/executions.ts';
import { post, startServer } from './support/server.ts';
import { databaseOfTests } from './support/database-of-tests.ts';

/* Nodes that stop while clients wait for the answers of executions that have not come to their turn. */

const test = databaseOfTests();

const CLIENTS = 100;
const STEP_MS = 1_000;
/** Half of what requests in flight are given, after which their connections are cut. */
const SOON_MS = LIMITS.shutdownMs * 0.3 + STEP_MS;

/** One execution runs, the others wait; answers what becomes of their clients. */
async function startFlow(server: Awaited<ReturnType<typeof startServer>>) {
  const code = `await new Promise((done) => setTimeout(done, ${STEP_MS})); await $.respond({ status: 200, body: 'done' });`;
  const made = await server.api('POST', '/workflows', {
    triggers: [{ type: 'http', custom_response: true }],
    steps: [{ namespace: 'only', component_code: action(code) }],
    settings: { concurrency: 1 },
  });
  expect(made.status).toBe(200);
  const { id, triggers } = made.body.data;
  const ask = async () => {
    const { status, text } = await post(triggers[0].endpoint_url as string, 1).then(
      async (answer) => ({ status: answer.status, text: await answer.text() }),
      (error: unknown) => ({ status: 0, text: String(error) }),
    );
    return { status, text };
  };
  const answers = Array.from({ length: CLIENTS }, ask);
  const queued = () => test.db.sql`select from invocations where source_id = ${id as string}`;
  await eventually(async () => (await queued()).length === CLIENTS);
  return { id: id as string, answers: Promise.all(answers), queued };
}

it('a stop does not wait for turns: their clients are told, what runs is answered, and what waits is kept', async () => {
  const server = await startServer({ databaseUrl: test.url });
  const { id, answers, queued } = await startFlow(server);
  const begunMs = performance.now();
  expect((await server.process.end('SIGTERM')).code).toBe(0);
  const tookMs = performance.now() - begunMs;
  const told = (await answers).filter(({ status }) => status !== 200);
  expect(told.length).toBeGreaterThan(CLIENTS - 5);
  for (const { text } of told) expect(text).toContain('This node stops; the request is kept and runs later');
  const ended = await test.db.sql`select from executions where workflow_id = ${id} and status = 'succeeded'`;
  expect((await queued()).length + ended.length).toBe(CLIENTS);
  expect(tookMs).toBeLessThan(SOON_MS);
});

it('nor where the workflow was deleted meanwhile, and its clients wait for nothing', async () => {
  const server = await startServer({ databaseUrl: test.url });
  const { id, answers } = await startFlow(server);
  expect((await server.api('DELETE', `/workflows/${id}`)).status).toBe(204);
  const begunMs = performance.now();
  expect((await server.process.end('SIGTERM')).code).toBe(0);
  expect(performance.now() - begunMs).toBeLessThan(SOON_MS);
  expect((await answers).filter(({ status }) => status === 200).length).toBeLessThan(5);
});
