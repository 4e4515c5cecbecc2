import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { post, startServer, type TestServer } from '../../support/server.ts';
import { databaseOfTests } from '../../support/database-of-tests.ts';

/*
 * Nodes that stop while clients wait for the answers of executions that have not come to their
 * turn.
 */

const test = databaseOfTests();

const CLIENTS = 100;
/** How long what runs goes on after the signal. */
const STEP_MS = 1_000;

/** The run waits for it. */
const held: ServerResponse[] = [];
let isOpen = false;
const gate = createServer((_, response) => {
  if (isOpen) response.end();
  else held.push(response);
});
beforeEach(async () => {
  isOpen = false;
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => gate.close(resolve)));

async function stopWhileOneRuns(server: TestServer): Promise<void> {
  const ended = server.process.end('SIGTERM');
  await sleep(STEP_MS);
  isOpen = true;
  for (const response of held.splice(0)) response.end();
  // A stop that waited for turns would run out of time, end with code 1 and cut connections.
  expect((await ended).code).toBe(0);
}

/** One execution runs, the others wait; answers what becomes of their clients. */
async function startFlow(server: TestServer) {
  const { port } = gate.address() as AddressInfo;
  const code = `await fetch('http://127.0.0.1:${port}/'); await $.respond({ status: 200, body: 'done' });`;
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
  await eventually(async () => held.length > 0 && (await queued()).length === CLIENTS);
  return { id: id as string, answers: Promise.all(answers), queued };
}

it('a stop does not wait for turns: their clients are told, running ones are answered, and waiting ones are kept', async () => {
  const server = await startServer({ databaseUrl: test.url });
  const { id, answers, queued } = await startFlow(server);
  await stopWhileOneRuns(server);
  const told = (await answers).filter(({ status }) => status !== 200);
  expect(told.length).toBeGreaterThan(CLIENTS - 5);
  const kept = { status: 202, text: expect.stringContaining('This node stops; the request is kept and runs later') };
  expect(told).toEqual(told.map(() => kept));
  const ended = await test.db.sql`select from executions where workflow_id = ${id} and status = 'succeeded'`;
  expect((await queued()).length + ended.length).toBe(CLIENTS);
});

it('nor where the workflow was deleted meanwhile, and its clients wait for nothing', async () => {
  const server = await startServer({ databaseUrl: test.url });
  const { id, answers } = await startFlow(server);
  expect((await server.api('DELETE', `/workflows/${id}`)).status).toBe(204);
  await stopWhileOneRuns(server);
  expect((await answers).filter(({ status }) => status === 200).length).toBeLessThan(5);
  // No client's connection was cut.
  expect((await answers).filter(({ status }) => status === 0)).toEqual([]);
});
