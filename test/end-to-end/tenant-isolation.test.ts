import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ADMIN_KEY, API_KEY, deploy, post, startServer, subscribe, type TestServer } from '../support/server.ts';

const BIN = `export default { name: "Of one tenant", key: "bin", version: "1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event.body); } };`;

let test: TestDatabase;
let server: TestServer;
let receiver: Receiver;
let otherKey: string;
let otherAccount: string;

beforeAll(async () => {
  test = await createTestDatabase();
  server = await startServer({ databaseUrl: test.url });
  receiver = await startReceiver();
  const made = await server.api('POST', '/accounts', { name: 'The tenant next door' }, ADMIN_KEY);
  otherKey = made.body.data.api_key;
  otherAccount = made.body.data.id;
});
afterAll(async () => {
  await receiver.stop();
  await server.stop();
  await test.drop();
});

it('each resource of one account is a 404 to another in every request', async () => {
  const source = await deploy(server, BIN);
  const webhook = await subscribe(server, source.id, `${receiver.url}/mine`);
  const component = (await server.api('GET', `/sources/${source.id}`)).body.data.component_id;
  const account = (await server.api('GET', '/users/me')).body.data.orgs[0].id;
  const subscription = `/subscriptions?emitter_id=${source.id}&listener_id=${webhook.id}`;
  const requests: [string, string, unknown?][] = [
    ['GET', `/sources/${source.id}`],
    ['PUT', `/sources/${source.id}`, { active: false }],
    ['POST', `/sources/${source.id}/run`, {}],
    ['GET', `/sources/${source.id}/event_summaries`],
    ['DELETE', `/sources/${source.id}/events`],
    ['GET', `/sources/${source.id}/runs`],
    ['DELETE', `/sources/${source.id}`],
    ['GET', `/components/${component}`],
    ['GET', '/components/bin'],
    ['POST', '/sources', { component_id: component }],
    ['GET', `/webhooks/${webhook.id}`],
    ['GET', `/webhooks/${webhook.id}/deliveries`],
    ['PUT', `/webhooks/${webhook.id}`, { name: 'theirs' }],
    ['DELETE', `/webhooks/${webhook.id}`],
    ['POST', subscription],
    ['DELETE', subscription],
    ['GET', `/workspaces/${account}/sources`],
    ['GET', `/orgs/${account}/webhooks`],
  ];
  for (const [method, path, body] of requests) {
    const answer = await server.api(method, path, body, otherKey);
    expect([method, path, answer.status]).toEqual([method, path, 404]);
    expect(answer.text).not.toContain('Of one tenant');
  }
  expect((await server.api('GET', `/sources/${source.id}`)).body.data.active).toBe(true);
  expect((await server.api('GET', '/users/me/sources', undefined, otherKey)).body.data).toEqual([]);
});

it('a subscription to all sources hears those of its own account alone', async () => {
  const own = await server.api('POST', '/webhooks', { url: `${receiver.url}/theirs` }, otherKey);
  await server.api('POST', `/subscriptions?emitter_id=dc_*&listener_id=${own.body.data.id}`, undefined, otherKey);
  const mine = await deploy(server, BIN);
  const theirs = await deploy(server, BIN, { key: otherKey });
  await post(mine.endpoint, { of: 'mine' });
  await post(theirs.endpoint, { of: 'theirs' });
  const heard = await eventually(() => {
    const found = receiver.requests.filter((request) => request.url === '/theirs');
    return found.length > 0 && found;
  });
  await eventually(async () => (await server.api('GET', `/sources/${mine.id}/event_summaries`)).body.data.length === 1);
  expect(heard.map((request) => JSON.parse(request.body))).toEqual([{ of: 'theirs' }]);
});

it('keys: none and a wrong one get 401, an ordinary one cannot make accounts, a revoked one is over at once', async () => {
  expect((await fetch(`${server.url}/v1/users/me`)).status).toBe(401);
  expect((await server.api('GET', '/users/me', undefined, 'hw_wrong')).status).toBe(401);
  expect((await server.api('POST', '/accounts', { name: 'x' }, API_KEY)).status).toBe(403);
  const made = await server.api('POST', '/api_keys', { name: 'short-lived' }, otherKey);
  const { id, api_key: key } = made.body.data;
  expect((await server.api('GET', '/users/me', undefined, key)).body.data.orgs[0].id).toBe(otherAccount);
  expect((await server.api('DELETE', `/api_keys/${id}`, undefined, otherKey)).status).toBe(204);
  expect((await server.api('GET', '/users/me', undefined, key)).status).toBe(401);
});

it('only the component reads a secret prop', async () => {
  const code = `export default { name: "Secret", version: "1",
    props: { http: "$.interface.http", token: { type: "string", secret: true } },
    run() { this.$emit({ length: this.token.length, starts: this.token.slice(0, 2) }); } };`;
  const source = await deploy(server, code, { props: { token: 's3cret-token' } });
  const shown = await server.api('GET', `/sources/${source.id}`);
  expect(shown.text).not.toContain('s3cret');
  expect(JSON.stringify(await test.db.sql`select configured_props from sources`)).not.toContain('s3cret');
  await post(source.endpoint, {});
  const events = await eventually(async () => {
    const { body } = await server.api('GET', `/sources/${source.id}/event_summaries`);
    return body.data.length === 1 && body.data;
  });
  expect(events[0].event).toEqual({ length: 12, starts: 's3' });
});
