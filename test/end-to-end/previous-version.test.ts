import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../engine/src/db/database.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { action } from '../support/executions.ts';
import { findPreviousVersion, missingPackages, unpackVersion } from '../support/previous-version.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ADMIN_KEY, deploy, post, startServer, subscribe, type TestServer } from '../support/server.ts';

/*
 * A rolling upgrade: a node of the version before starts on a schema of its own, the new one
 * migrates the database beside it, both take requests, and the old one stops. It takes two starts
 * of nodes and a whole migration.
 */

const ORDERS = `export default { name: 'Orders', version: '1', dedupe: 'unique',
  props: { http: '$.interface.http', gate: 'string' },
  async run(event) {
    if (event.body.waits) await fetch(this.gate);
    this.$emit({ id: event.body.id }, { id: event.body.id });
  } };`;
const BATCH = 60;

const previous = findPreviousVersion();
const ends: (() => unknown)[] = [];
let receiver: Receiver;

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Deployed {
  source: string;
  workflow: string;
  sourceId: string;
  workflowId: string;
}

async function deployBoth(server: TestServer): Promise<Deployed> {
  const source = await deploy(server, ORDERS, { props: { gate: `${receiver.url}/gate` } });
  await subscribe(server, source.id, `${receiver.url}/hook`);
  const call = (step: string) =>
    action(`await fetch('${receiver.url}/step/${step}/' + steps.trigger.event.body.id, { method: 'POST' });`);
  const made = await server.api('POST', '/workflows', {
    triggers: [{ type: 'http' }],
    steps: ['one', 'two'].map((namespace) => ({ namespace, component_code: call(namespace) })),
  });
  expect(made.status).toBe(200);
  const { id, triggers } = made.body.data;
  const pathOf = (url: string) => new URL(url).pathname;
  return {
    source: pathOf(source.endpoint),
    workflow: pathOf(triggers[0].endpoint_url as string),
    sourceId: source.id,
    workflowId: id as string,
  };
}

/** A refusal is no failure, but where one is, its request may have been stored all the same. */
function createSender() {
  const accepted: string[] = [];
  const refused: string[] = [];
  let sent = 0;
  async function send(endpoint: string, count: number, waits = false): Promise<void> {
    const ids = Array.from({ length: count }, () => `id-${++sent}`);
    const answers = await Promise.all(ids.map((id) => post(endpoint, { id, waits })));
    for (const [i, { status }] of answers.entries()) (status === 200 ? accepted : refused).push(ids[i] as string);
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 503)).toEqual([]);
  }
  return { accepted, refused, send };
}

/** Each accepted one is there once, and nothing else but refused ones. */
function expectOnce(found: readonly string[], { accepted, refused }: ReturnType<typeof createSender>): void {
  expect(found.toSorted()).toEqual([...accepted, ...refused.filter((id) => found.includes(id))].toSorted());
}

async function untilAllEnded({ sql }: Database): Promise<void> {
  const left = () => sql`
    select id from invocations union all select id from executions where ended_at is null
    union all select id from deliveries where status = 'pending'`;
  await eventually(async () => (await left()).length === 0, { timeoutMs: 60_000, what: 'the end of all work' });
}

/**
 * One run of the old node waits, and the others wait for it. The stop gives those back. The new
 * node has run them when the one may end.
 */
async function stopWhileItHolds(
  old: TestServer,
  send: (count: number, waits: boolean) => Promise<void>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const delivered = () => receiver.requests.filter(({ url }) => url === '/hook').length;
  receiver.script({ after: promise });
  await send(1, true);
  await eventually(() => receiver.requests.some(({ url }) => url === '/gate'));
  const before = delivered();
  await send(BATCH, false);
  expect(delivered()).toBe(before);
  const ended = old.process.end('SIGTERM');
  await eventually(() => delivered() >= before + BATCH, { timeoutMs: 60_000 });
  resolve();
  expect(await ended).toEqual({ code: 0, signal: null });
}

test('nodes of the version before and of this one share the work, and nothing is lost or doubled', async (context) => {
  if (previous === undefined) return context.skip('this clone has no history with the version before');
  const folder = unpackVersion(previous);
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const missing = missingPackages(folder);
  if (missing.length > 0) return context.skip(`the version before needs packages that are gone: ${missing.join(', ')}`);
  const database = await createEmptyDatabase();
  ends.push(database.drop);
  receiver = await startReceiver();
  ends.push(receiver.stop);
  const old = await startServer({ databaseUrl: database.url, main: path.join(folder, 'api/src/main.ts') });
  ends.push(() => old.stop());
  const { source, workflow, sourceId, workflowId } = await deployBoth(old);
  const events = createSender();
  const executions = createSender();
  const sendTo = (node: TestServer) =>
    Promise.all([events.send(node.url + source, BATCH), executions.send(node.url + workflow, BATCH / 2)]);
  await sendTo(old);

  let isUp = false;
  const starting = startServer({ databaseUrl: database.url }).finally(() => (isUp = true));
  // The old node goes on while the new one migrates.
  do await sendTo(old);
  while (!isUp);
  const own = await starting;
  ends.push(() => own.stop());
  const db = openDatabase({ url: database.url, maxConnections: 1 });
  ends.push(() => db.close());
  const account = (await own.api('GET', '/users/me/limits')).body.data.account_id as string;
  const limits = { maxRunsPerComponent: 1 };
  expect((await own.api('PUT', `/accounts/${account}/limits`, limits, ADMIN_KEY)).status).toBe(200);
  await Promise.all([sendTo(old), sendTo(own)]);
  await untilAllEnded(db);
  await stopWhileItHolds(old, (count, waits) => events.send(old.url + source, count, waits));
  await sendTo(own);
  await untilAllEnded(db);

  const { sql } = db;
  const idOf = (json: string) => (JSON.parse(json) as { id: string }).id;
  const stored = await sql<{ data: string }[]>`select data from events where emitter_id = ${sourceId}`;
  expectOnce(
    stored.map(({ data }) => idOf(data)),
    events,
  );
  const hooks = receiver.requests.filter(({ url }) => url === '/hook');
  const messages = new Map(hooks.map(({ headers, body }) => [headers['webhook-id'], body]));
  expectOnce([...messages.values()].map(idOf), events);
  const ended = await sql<{ status: string; event: string }[]>`
    select status, event from executions where workflow_id = ${workflowId}`;
  expect(ended.filter(({ status }) => status !== 'succeeded')).toEqual([]);
  expectOnce(
    ended.map(({ event }) => (JSON.parse(event) as { body: { id: string } }).body.id),
    executions,
  );
  for (const step of ['/step/one/', '/step/two/']) {
    const calls = receiver.requests.filter(({ url }) => url.startsWith(step));
    expectOnce(
      calls.map(({ url }) => url.slice(step.length)),
      executions,
    );
  }
});
