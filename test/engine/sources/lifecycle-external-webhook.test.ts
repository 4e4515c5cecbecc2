import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { startReceiver } from '../../support/receiver.ts';
import { deploy, killNode, startServer, type TestServer } from '../../support/server.ts';

/** A service that calls registered hooks, as those that sources are made for do. */
interface HookService {
  url: string;
  /** Registered hooks, by the id that the service gave them. */
  hooks: Map<string, { target: string; topic: string }>;
  /** How many registrations and removals were asked for. */
  calls: string[];
  /** Answers the next registration with this instead of making it. */
  failNext: number | undefined;
  /** Registrations wait for it, after they were made. */
  gate: Promise<void> | undefined;
  stop(): Promise<void>;
}

async function startHookService(): Promise<HookService> {
  let count = 0;
  const server: Server = createServer((request, response) => void serve(request, response));
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    service.calls.push(`${request.method} ${request.url}`);
    response.statusCode =
      request.method === 'POST' ? await register(Buffer.concat(chunks).toString()) : remove(request);
    response.end(JSON.stringify({ id: `hook${count}` }));
  }
  async function register(body: string): Promise<number> {
    if (service.failNext !== undefined) {
      const status = service.failNext;
      service.failNext = undefined;
      return status;
    }
    const { target, topic } = JSON.parse(body) as { target: string; topic: string };
    service.hooks.set(`hook${++count}`, { target, topic });
    // Services call at once to verify the target.
    if (topic === 'pinged') await fetch(target, { method: 'POST', body: '{"ping":true}' });
    await service.gate;
    return 201;
  }
  const remove = (request: IncomingMessage) => (service.hooks.delete(request.url?.split('/').at(-1) ?? '') ? 200 : 404);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service: HookService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hooks: new Map(),
    calls: [],
    failNext: undefined,
    gate: undefined,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return service;
}

const CODE = `export default { name: "Registers a webhook", version: "1",
  props: { http: "$.interface.http", db: "$.service.db", service: "string", topic: "string",
    slow: { type: "string", optional: true } },
  hooks: {
    async activate() {
      const response = await fetch(this.service + "/hooks", { method: "POST",
        body: JSON.stringify({ target: this.http.endpoint, topic: this.topic }) });
      if (!response.ok) throw new Error("the service answered " + response.status);
      this.db.set("hookId", (await response.json()).id);
    },
    async deactivate() {
      const response = await fetch(this.service + "/hooks/" + this.db.get("hookId"), { method: "DELETE" });
      if (!response.ok) throw new Error("the service answered " + response.status);
    },
  },
  run(event) { this.$emit(event.body); } };`;

/** Its activate registers, and then fails. */
const FAILS_LATE = CODE.replace('.json()).id);', '.json()).id); throw new Error("too late");');

let test: TestDatabase;
let service: HookService;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  service = await startHookService();
});
afterEach(() => service.stop());

const registered = () => [...service.hooks.values()];

describe('a source that registers a webhook with a service', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ databaseUrl: test.url });
  });
  afterAll(() => server.stop());

  it('has one registration while it is active, of its present props, and none when it is stopped or deleted', async () => {
    const source = await deploy(server, CODE, { props: { service: service.url, topic: 'pinged' } });
    expect(registered()).toEqual([{ target: source.endpoint, topic: 'pinged' }]);
    const path = `/sources/${source.id}`;
    // The ping that came while it was being deployed is an event like another.
    const events = async () => (await server.api('GET', `${path}/event_summaries`)).body.data as { event: unknown }[];
    await eventually(async () => (await events()).length === 1);

    await server.api('PUT', path, { configured_props: { topic: 'orders' } });
    expect(registered()).toEqual([{ target: source.endpoint, topic: 'orders' }]);
    await server.api('PUT', path, { active: false });
    expect(registered()).toEqual([]);
    await server.api('PUT', path, { active: true });
    await server.api('PUT', path, { component_code: CODE.replace('version: "1"', 'version: "2"') });
    expect(registered()).toEqual([{ target: source.endpoint, topic: 'orders' }]);
    expect((await server.api('DELETE', path)).status).toBe(204);
    expect(registered()).toEqual([]);
  });

  it('refused by the service is not left half registered: the old registration is back, or the source is stopped', async () => {
    const source = await deploy(server, CODE, { props: { service: service.url, topic: 'a' } });
    const path = `/sources/${source.id}`;
    service.failNext = 403;
    const refused = await server.api('PUT', path, { configured_props: { topic: 'b' } });
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining('answered 403') as unknown]);
    expect(registered()).toEqual([{ target: source.endpoint, topic: 'a' }]);
    expect((await server.api('GET', path)).body.data).toMatchObject({ active: true, configured_props: { topic: 'a' } });

    // Neither the new nor the old one: its activate works no more.
    const broken = CODE.replace(
      'async activate() {',
      'async activate() { if (this.db.get("hookId")) throw new Error("no more");',
    );
    expect((await server.api('PUT', path, { component_code: broken })).status).toBe(422);
    const deaf = await server.api('PUT', path, { configured_props: { service: 'http://127.0.0.1:1' } });
    expect(deaf.status).toBe(422);
    expect(registered()).toEqual([{ target: source.endpoint, topic: 'a' }]);
    await server.api('DELETE', path);
    expect(registered()).toEqual([]);
  });

  it('and fails afterwards takes its registration back, and no source is left', async () => {
    const answer = await server.api('POST', '/sources', {
      component_code: FAILS_LATE,
      configured_props: { service: service.url, topic: 'a' },
    });
    expect([answer.status, answer.body.detail]).toEqual([422, expect.stringContaining('too late') as unknown]);
    expect([service.calls, registered()]).toEqual([['POST /hooks', 'DELETE /hooks/hook1'], []]);
  });

  it('is registered again after a change that the database refused between its hooks', async () => {
    const source = await deploy(server, CODE, { props: { service: service.url, topic: 'a' } });
    const { sql } = test.db;
    await sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before update of component_id on emitters for each row execute function refuse();`);
    const path = `/sources/${source.id}`;
    expect((await server.api('PUT', path, { configured_props: { topic: 'b' } })).status).toBe(500);
    await sql.unsafe('drop trigger refuse on emitters; drop function refuse');
    await eventually(async () => (await sql`select 1 from sources where busy_until is not null`).length === 0);
    expect(registered()).toEqual([{ target: source.endpoint, topic: 'a' }]);
    expect((await server.api('GET', path)).body.data).toMatchObject({ active: true, configured_props: { topic: 'a' } });
    await server.api('DELETE', path);
    expect(registered()).toEqual([]);
  });

  it('is deleted even if its removal fails, and the answer to a failed deployment names both hooks', async () => {
    const answer = await server.api('POST', '/sources', {
      component_code: FAILS_LATE.replace('this.db.get("hookId")', '"unknown"'),
      configured_props: { service: service.url, topic: 'a' },
    });
    expect(answer.body.errors).toEqual([
      expect.objectContaining({ path: 'hooks.activate' }) as unknown,
      expect.objectContaining({ path: 'hooks.activate.stack' }) as unknown,
      expect.objectContaining({
        path: 'hooks.deactivate',
        message: expect.stringContaining('404') as unknown,
      }) as unknown,
      expect.objectContaining({ path: 'hooks.deactivate.stack' }) as unknown,
    ]);
    const source = await deploy(server, CODE, { props: { service: service.url, topic: 'a' } });
    service.hooks.clear();
    expect((await server.api('DELETE', `/sources/${source.id}`)).status).toBe(204);
  });
});

describe('kill -9 of the node', () => {
  /** Holds what the hook waits for until it is told to go on. */
  function holdRegistrations(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    service.gate = promise;
    return resolve;
  }

  /** As the API is asked by a client that sees its connection end. */
  const ask = (server: TestServer, method: string, path: string, body: unknown) =>
    server.api(method, path, body).catch(() => undefined);

  const busy = async () => (await test.db.sql`select 1 from sources where busy_until is not null`).length;

  it('between the hooks of a deployment: the registration of the first is removed, and no source is left', async () => {
    const first = await startServer({ databaseUrl: test.url });
    const slow = await startReceiver();
    slow.answer = { delayMs: 60_000 };
    const code = CODE.replace('async activate()', 'activate() { return fetch(this.slow); }, async deploy()');
    const props = { service: service.url, topic: 'a', slow: slow.url };
    // The hook that registers is through, the next one runs.
    const asked = ask(first, 'POST', '/sources', { component_code: code, configured_props: props });
    await slow.until(1);
    expect(registered()).toHaveLength(1);
    await killNode(first, test.db.sql);
    await asked;
    await slow.stop();

    const second = await startServer({ databaseUrl: test.url });
    await eventually(async () => (await busy()) === 0, { timeoutMs: 30_000 });
    expect((await second.api('GET', '/users/me/sources')).body.data).toEqual([]);
    expect([service.calls, registered()]).toEqual([['POST /hooks', 'DELETE /hooks/hook1'], []]);
    await second.stop();
  });

  it('between the hooks of an update: the source is registered again from its stored state, and its owner can see why', async () => {
    const first = await startServer({ databaseUrl: test.url });
    const source = await deploy(first, CODE, { props: { service: service.url, topic: 'a' } });
    const path = `/sources/${source.id}`;
    const release = holdRegistrations();
    const asked = ask(first, 'PUT', path, { configured_props: { topic: 'b' } });
    await eventually(() => service.calls.length === 3);
    expect(service.calls).toEqual(['POST /hooks', 'DELETE /hooks/hook1', 'POST /hooks']);
    await killNode(first, test.db.sql);
    release();
    service.gate = undefined;
    await asked;

    const second = await startServer({ databaseUrl: test.url });
    await eventually(async () => (await busy()) === 0, { timeoutMs: 30_000 });
    const moved = second.url + new URL(source.endpoint).pathname;
    const { data } = (await second.api('GET', path)).body;
    expect(data).toMatchObject({ active: true, configured_props: { topic: 'b', http: { endpoint_url: moved } } });
    expect(registered()).toContainEqual({ target: moved, topic: 'b' });
    const runs = (await second.api('GET', `${path}/runs`)).body.data as { kind: string; error: { code: string } }[];
    expect(runs.map(({ error }) => error.code)).toContain('CHANGE_INTERRUPTED');

    // From here on the source is like any other.
    await second.api('PUT', path, { active: false });
    expect(registered().filter(({ target }) => target === moved)).toEqual([]);
    expect((await second.api('DELETE', path)).status).toBe(204);
    await second.stop();
  });
});
