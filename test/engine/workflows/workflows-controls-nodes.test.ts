import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WorkflowSettings } from '../../../engine/src/contract/workflows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { killNode, post, startServer, type TestServer } from '../../support/server.ts';
import { putSettings } from '../../support/turn-rows.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

let test: TestDatabase;
let gate: Receiver;
let nodes: [TestServer, TestServer];
let accountId: string;

beforeAll(async () => {
  test = await createTestDatabase();
  gate = await startReceiver();
  nodes = await Promise.all([startServer({ databaseUrl: test.url }), startServer({ databaseUrl: test.url })]);
  const me = await nodes[0].api('GET', '/users/me');
  accountId = me.body.data.orgs[0].id;
});
afterAll(async () => {
  await gate.stop();
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

async function flow(code: string, settings: Partial<WorkflowSettings>, customResponse = false) {
  const steps = [{ namespace: 'only', code: action(code) }];
  const { id, endpointKey } = await insertWorkflow(test.db.sql, { accountId, steps, settings, customResponse });
  await putSettings(test.db.sql, id, settings);
  return { id, on: (node: TestServer) => `${node.url}/e/${endpointKey}` };
}

interface Span {
  n: number;
  at: number;
  to: number;
}

const timed = (path: string) =>
  `const at = Date.now(); const { n } = steps.trigger.event.body; await fetch('${gate.url}/${path}/' + n); return { n, at, to: Date.now() };`;

async function spans(id: string, count: number): Promise<Span[]> {
  const executions = await untilExecutions(test.db.sql, id, count);
  expect(executions).toHaveLength(count);
  return executions.map(({ steps }) => steps[0]?.value as Span).toSorted((a, b) => a.at - b.at || a.n - b.n);
}

it('with concurrency 1 two nodes run one at a time, in the order in which either has accepted', async () => {
  const { id, on } = await flow(timed('one'), { concurrency: 1 });
  for (let n = 0; n < 40; n++) expect((await post(on(nodes[n % 2] ?? nodes[0]), { n })).status).toBe(200);
  const ran = await spans(id, 40);
  expect(ran.map(({ n }) => n)).toEqual(Array.from({ length: 40 }, (_, n) => n));
  for (const [i, { at }] of ran.entries()) expect(at).toBeGreaterThanOrEqual(ran[i - 1]?.to ?? 0);
});

it('with concurrency 2 two nodes together run two', async () => {
  gate.answer = { delayMs: 20 };
  const { id, on } = await flow(timed('two'), { concurrency: 2 });
  await Promise.all(Array.from({ length: 20 }, (_, n) => post(on(nodes[n % 2] ?? nodes[0]), { n })));
  const ran = await spans(id, 20);
  gate.answer = {};
  const together = ran.map(({ at }) => ran.filter((other) => other.at <= at && at < other.to).length);
  expect(Math.max(...together)).toBe(2);
});

it('clients on both nodes get the answers of their own executions', async () => {
  const { on } = await flow(
    'const { n } = steps.trigger.event.body; await $.respond({ status: 201, body: { n } });',
    { concurrency: 1 },
    true,
  );
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => (await post(on(nodes[n % 2] ?? nodes[0]), { n })).json()),
  );
  expect(answers).toEqual(Array.from({ length: 20 }, (_, n) => ({ n })));
});

it('a node that is killed while it runs one is replaced, and nothing overtakes it', async () => {
  const doomed = await startServer({ databaseUrl: test.url });
  gate.answer = { delayMs: 60_000 };
  const { id, on } = await flow(timed('killed'), { concurrency: 1 });
  const before = gate.requests.length;
  for (let n = 0; n < 5; n++) await post(on(doomed), { n });
  await gate.until(before + 1);
  expect(gate.requests.slice(before).map(({ url }) => url)).toEqual(['/killed/0']);
  await killNode(doomed, test.db.sql);
  gate.answer = {};
  await gate.until(before + 6, 40_000);
  expect((await spans(id, 5)).map(({ n }) => n)).toEqual([0, 1, 2, 3, 4]);
  expect(gate.requests.slice(before).map(({ url }) => url)).toEqual([0, 0, 1, 2, 3, 4].map((n) => `/killed/${n}`));
});
