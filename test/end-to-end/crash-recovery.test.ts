import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ADMIN_KEY, deploy, killNode, post, startServer, subscribe, type TestServer } from '../support/server.ts';

/**
 * Takes as long as the receiver's /gate takes to answer, so that the test decides how far a run
 * gets.
 */
const GATED = `export default { name: "Gated", version: "1",
  props: { http: "$.interface.http", gate: "string" },
  async run(event) {
    this.$emit({ early: event.body.id });
    await fetch(this.gate);
    this.$emit({ late: event.body.id });
  } };`;

const BIN = `export default { name: "Bin", version: "1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;

let test: TestDatabase;
let receiver: Receiver;

beforeAll(async () => {
  test = await createTestDatabase();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await test.drop();
});

async function emitted(server: TestServer, sourceId: string): Promise<unknown[]> {
  const { body } = await server.api('GET', `/sources/${sourceId}/event_summaries?limit=100`);
  return body.data.map((event: { event: unknown }) => event.event);
}

describe('kill -9 of a node', () => {
  it('between accept and commit loses nothing and emits nothing twice', async () => {
    const first = await startServer({ databaseUrl: test.url });
    const gate = await startReceiver();
    gate.answer = { delayMs: 60_000 };
    const source = await deploy(first, GATED, { props: { gate: gate.url } });
    await subscribe(first, source.id, `${receiver.url}/accepted`);
    const answers = await Promise.all([1, 2, 3].map((id) => post(source.endpoint, { id })));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    await gate.until(3);
    await killNode(first, test.db.sql);
    expect(await test.db.sql`select 1 from events where emitter_id = ${source.id}`).toHaveLength(0);

    gate.answer = {};
    const second = await startServer({ databaseUrl: test.url });
    const requests = await eventually(
      () => {
        const found = receiver.requests.filter((request) => request.url === '/accepted');
        return found.length >= 6 && found;
      },
      { timeoutMs: 25_000 },
    );
    const expected = [1, 2, 3].flatMap((id) => [{ early: id }, { late: id }]);
    const bodies = requests.map((request) => JSON.parse(request.body) as unknown);
    expect(bodies).toHaveLength(6);
    expect(bodies).toEqual(expect.arrayContaining(expected));
    expect(await emitted(second, source.id)).toEqual(expect.arrayContaining(expected));
    expect(await emitted(second, source.id)).toHaveLength(6);
    await second.stop();
    await gate.stop();
  });

  it('between commit and delivery still delivers each event, as the same message', async () => {
    const first = await startServer({ databaseUrl: test.url });
    const slow = await startReceiver();
    slow.answer = { delayMs: 60_000 };
    const source = await deploy(first, BIN);
    const webhook = await subscribe(first, source.id, slow.url);
    for (const id of [1, 2, 3]) await post(source.endpoint, { id });
    const before = [...(await slow.until(3))];
    await killNode(first, test.db.sql);

    slow.answer = {};
    const second = await startServer({ databaseUrl: test.url });
    const after = (await slow.until(6, 25_000)).slice(3);
    const idsOf = (requests: typeof before) =>
      requests.map((request) => String(request.headers['webhook-id'])).toSorted((a, b) => (a < b ? -1 : 1));
    expect(idsOf(after)).toEqual(idsOf(before));
    expect(await emitted(second, source.id)).toHaveLength(3);
    await eventually(async () => {
      const { body } = await second.api('GET', `/webhooks/${webhook.id}/deliveries`);
      return body.data.length === 3 && body.data.every(({ status }: { status: string }) => status === 'delivered');
    });
    await second.stop();
    await slow.stop();
  });

  it('and of its database loses nothing: the same folder starts again', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'headwater-crash-'));
    const first = await startServer({ dataDir });
    const gate = await startReceiver();
    gate.answer = { delayMs: 60_000 };
    const source = await deploy(first, GATED, { props: { gate: gate.url } });
    expect((await post(source.endpoint, { id: 7 })).status).toBe(200);
    await gate.until(1);
    await first.process.end('SIGKILL');

    gate.answer = {};
    const second = await startServer({ dataDir });
    await eventually(async () => (await emitted(second, source.id)).length === 2, { timeoutMs: 20_000 });
    expect(await emitted(second, source.id)).toEqual([{ late: 7 }, { early: 7 }]);
    await second.stop();
    await rm(dataDir, { recursive: true, force: true });
    await gate.stop();
  });
});

describe('a run whose sandbox process dies', () => {
  it('fails alone: other tenants’ runs go on, innocent runs of its own tenant are run again', async () => {
    const server = await startServer({ databaseUrl: test.url });
    const code = `export default { name: "Bomb", version: "1", props: { http: "$.interface.http" },
      async run(event) {
        await new Promise((r) => setTimeout(r, 300));
        if (event.body.bomb) { const m = new Map(); for (let i = 0; ; i++) m.set(i, i); }
        this.$emit(event.body);
      } };`;
    const [{ id: accountId } = { id: '' }] = await test.db.sql<{ id: string }[]>`select id from accounts`;
    const limits = { memoryMb: 32 };
    expect((await server.api('PUT', `/accounts/${accountId}/limits`, limits, ADMIN_KEY)).status).toBe(200);
    const source = await deploy(server, code);
    const bodies = [{ bomb: true }, ...[1, 2, 3].map((id) => ({ id }))];
    await Promise.all(bodies.map((body) => post(source.endpoint, body)));
    await eventually(async () => (await emitted(server, source.id)).length === 3, { timeoutMs: 40_000 });
    // A run that fills memory has low CPU priority, so it takes a while on a full machine.
    const { body } = await eventually(
      async () => {
        const answer = await server.api('GET', `/sources/${source.id}/runs`);
        return answer.body.data.length > 0 && answer;
      },
      { timeoutMs: 40_000 },
    );
    expect(body.data.map((run: { error: { code: string } }) => run.error.code)).toEqual([
      expect.stringMatching(/SANDBOX_CRASHED|MEMORY_LIMIT|CPU_LIMIT/),
    ]);
    await server.stop();
  });
});

describe('SIGTERM', () => {
  it('lets runs and deliveries under way end, and leaves no lease behind', async () => {
    const server = await startServer({ databaseUrl: test.url });
    const gate = await startReceiver();
    gate.answer = { delayMs: 1_000 };
    const source = await deploy(server, GATED, { props: { gate: gate.url } });
    await subscribe(server, source.id, `${receiver.url}/drained`);
    await post(source.endpoint, { id: 1 });
    await gate.until(1);
    await server.stop();
    expect(await test.db.sql`select 1 from events where emitter_id = ${source.id}`).toHaveLength(2);
    expect(await test.db.sql`select 1 from nodes`).toHaveLength(0);
    expect(await test.db.sql`select 1 from invocations where leased_by is not null`).toHaveLength(0);
    await gate.stop();
  });
});
