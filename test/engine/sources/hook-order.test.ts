import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { deploy, post, startServer, subscribe, type TestServer } from '../../support/server.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

let test: TestDatabase;
let server: TestServer;
let receiver: Receiver;

beforeAll(async () => {
  test = await createTestDatabase();
  server = await startServer({ databaseUrl: test.url });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await server.stop();
  await test.drop();
});

/**
 * Each hook tells the receiver its name, its version, its prop and whether it knows its endpoint.
 */
const hooked = (version: string, broken = '') => `
const tell = (self, hook) => fetch(self.url + "/" + hook + "?v=${version}&p=" + self.p + "&e=" + self.http.endpoint.startsWith("http"));
const hook = (name) => async function () {
  await tell(this, name);
  if (name === "${broken}") throw new Error(name + " is broken");
};
export default { name: "Hooked", version: "${version}",
  props: { http: "$.interface.http", url: "string", p: { type: "string", default: "x" } },
  hooks: { deploy: hook("deploy"), activate: hook("activate"), deactivate: hook("deactivate") },
  run(event) { this.$emit({ version: "${version}", p: this.p }); } };`;

let seen = 0;
/** Calls of hooks since the last call of this function. */
function calls(): string[] {
  const fresh = receiver.requests.slice(seen).map((request) => request.url.replace('&e=true', ''));
  seen = receiver.requests.length;
  return fresh;
}

it('create runs deploy then activate; update deactivate with the old, activate with the new; delete deactivate', async () => {
  const source = await deploy(server, hooked('1'), { props: { url: receiver.url } });
  expect(calls()).toEqual(['/deploy?v=1&p=x', '/activate?v=1&p=x']);

  const path = `/sources/${source.id}`;
  const updated = await server.api('PUT', path, { component_code: hooked('2'), configured_props: { p: 'y' } });
  expect(updated.body.data).toMatchObject({
    id: source.id,
    configured_props: { http: { endpoint_url: source.endpoint } },
  });
  expect(calls()).toEqual(['/deactivate?v=1&p=x', '/activate?v=2&p=y']);

  await server.api('PUT', path, { name: 'Another name' });
  expect(calls()).toEqual([]);
  await server.api('PUT', path, { active: false });
  expect(calls()).toEqual(['/deactivate?v=2&p=y']);
  expect((await post(source.endpoint, {})).status).toBe(404);
  await server.api('PUT', path, { active: true });
  expect(calls()).toEqual(['/activate?v=2&p=y']);
  expect((await post(source.endpoint, {})).status).toBe(200);

  expect((await server.api('DELETE', path)).status).toBe(204);
  expect(calls()).toEqual(['/deactivate?v=2&p=y']);
  expect((await server.api('GET', path)).status).toBe(404);
  expect((await post(source.endpoint, {})).status).toBe(404);
});

it.each(['deploy', 'activate'])(
  'a source whose %s hook fails is not made, and the hook’s message is shown',
  async (hook) => {
    const before = (await server.api('GET', '/users/me/sources')).body.page_info.total_count;
    const answer = await server.api('POST', '/sources', {
      component_code: hooked('1', hook),
      configured_props: { url: receiver.url },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toContain(`${hook} is broken`);
    // The failed create is undone.
    expect(calls().at(-1)).toBe('/deactivate?v=1&p=x');
    expect((await server.api('GET', '/users/me/sources')).body.page_info.total_count).toBe(before);
  },
);

it('an update whose activate hook fails leaves the source as it was, endpoint included', async () => {
  const source = await deploy(server, hooked('1'), { props: { url: receiver.url } });
  calls();
  const path = `/sources/${source.id}`;
  const answer = await server.api('PUT', path, {
    component_code: hooked('2', 'activate'),
    configured_props: { p: 'y' },
  });
  expect(answer.status).toBe(422);
  const told = ['/deactivate?v=1&p=x', '/activate?v=2&p=y', '/deactivate?v=2&p=y', '/activate?v=1&p=x'];
  expect(calls()).toEqual(told);
  const now = (await server.api('GET', path)).body.data;
  expect(now.configured_props).toMatchObject({ p: 'x', http: { endpoint_url: source.endpoint } });
  expect((await post(source.endpoint, {})).status).toBe(200);
});

it('events emitted in deploy are there when the source is, and reach listeners to all sources', async () => {
  await subscribe(server, 'dc_*', `${receiver.url}/all`);
  const code = `export default { name: "Emits on deploy", version: "1", dedupe: "unique",
    hooks: { deploy() { for (const id of [1, 2, 2]) this.$emit({ id }, { id }); } }, run() {} };`;
  const source = await deploy(server, code);
  const { body } = await server.api('GET', `/sources/${source.id}/event_summaries`);
  expect(body.data.map((event: { event: { id: number } }) => event.event.id)).toEqual([2, 1]);
  const heard = await eventually(() => {
    const own = receiver.requests.filter((request) => request.headers['headwater-emitter-id'] === source.id);
    return own.length >= 2 && own;
  });
  expect(heard).toHaveLength(2);
  expect(new Set(heard.map((request) => request.body))).toEqual(new Set(['{"id":1}', '{"id":2}']));
});

it('names that are the same get slugs that are not, however many are deployed at once', async () => {
  const code = `export default { name: "Same Name!", version: "1", run() {} };`;
  const { id } = (await server.api('POST', '/components', { component_code: code })).body.data;
  const made = await Promise.all(
    Array.from({ length: 20 }, () => server.api('POST', '/sources', { component_id: id })),
  );
  const numbered = Array.from({ length: 19 }, (_, i) => `same-name-${i + 1}`);
  expect(new Set(made.map(({ body }) => body.data?.name_slug))).toEqual(new Set(['same-name', ...numbered]));
});
