import { afterAll, beforeAll, expect, test } from 'vitest';
import { action, untilExecutions } from '../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { post } from '../support/server.ts';
import { makeWorkflow } from '../support/workflow-steps.ts';

let node: Headwater;
beforeAll(async () => {
  node = await sharedHeadwater();
});
afterAll(() => node.stop());

const source = (run: string, more = '') => `export default { name: 'S', version: '1', ${more}
  props: { http: '$.interface.http', db: '$.service.db', store: { type: 'data_store', optional: true } },
  async run(event) {
    const tried = {};
    const attempt = async (name, act) => {
      try { await act(); tried[name] = 'done'; } catch (error) { tried[name] = error.name + ': ' + error.message; }
    };
    ${run}
    this.$emit(tried, { id: 'last' });
  } };`;

const UNSTORABLE = expect.stringMatching(
  /^TypeError: .*contains a NUL character or half of a surrogate pair, which cannot be stored$/,
);

test('keys of $.service.db that the database could not tell apart are refused, and the others keep their values', async () => {
  const { id, endpoint } = await node.deploy(
    source(`
      await attempt('plain', () => this.db.set('a', 1));
      await attempt('replaced', () => this.db.set('a\\uFFFD', 2));
      await attempt('nul', () => this.db.set('a\\u0000', 3));
      await attempt('half', () => this.db.set('a\\ud800', 4));
      await attempt('get', () => this.db.get('a\\udfff'));
      tried.values = [this.db.get('a'), this.db.get('a\\uFFFD')];`),
  );
  await post(endpoint, {});
  const [last] = await node.untilEvents(id, 1);
  expect(last?.event).toEqual({
    plain: 'done',
    replaced: 'done',
    nul: UNSTORABLE,
    half: UNSTORABLE,
    get: UNSTORABLE,
    values: [1, 2],
  });
});

test('event ids and channels that differ in nothing else are refused, and no event is taken for another', async () => {
  const { id, endpoint } = await node.deploy(
    source(
      `
      await attempt('replaced', () => this.$emit(1, { id: 'a\\uFFFD' }));
      await attempt('nul', () => this.$emit(2, { id: 'a\\u0000' }));
      await attempt('half', () => this.$emit(3, { id: '\\ud83d' }));
      await attempt('whole', () => this.$emit(4, { id: '\\ud83d\\ude00' }));
      await attempt('channel', () => this.$emit(5, { id: 'c', name: 'x\\u0000' }));`,
      `dedupe: 'unique',`,
    ),
  );
  await post(endpoint, {});
  const events = await node.untilEvents(id, 3);
  expect(events.map(({ metadata }) => metadata.id)).toEqual(['a\uFFFD', '😀', 'last']);
  expect(events.at(-1)?.event).toEqual({
    replaced: 'done',
    nul: UNSTORABLE,
    half: UNSTORABLE,
    whole: 'done',
    channel: UNSTORABLE,
  });
});

test('a component cannot write to a built-in channel', async () => {
  const { id, endpoint } = await node.deploy(
    source(`
      for (const name of ['$errors', '$logs', '$sse', '$other', 'errors'])
        await attempt(name, () => this.$emit({ error: { message: 'forged' } }, { name }));`),
  );
  await post(endpoint, {});
  const told = (await node.untilEvents(id, 2)).at(-1);
  const stored = await node.sql<
    { channel: string }[]
  >`select channel from events where emitter_id = ${id} order by seq`;
  expect(stored.map(({ channel }) => channel)).toEqual(['$other', 'errors', '']);
  const refused = (name: string) =>
    `TypeError: $emit: name: ${name} is a built-in channel, which only the system writes to`;
  expect(told?.event).toEqual({
    $errors: refused('$errors'),
    $logs: refused('$logs'),
    $sse: refused('$sse'),
    $other: 'done',
    errors: 'done',
  });
  const { data } = await node.api('GET', `/sources/${id}/$errors/event_summaries`);
  expect(data).toEqual([]);
});

test('nor can a step', async () => {
  const code = action(`
    const tell = (act) => { try { act(); return 'done'; } catch (error) { return error.message; } };
    return [
      tell(() => $.send.emit({ forged: 1 }, '$errors')),
      tell(() => $.send.emit({ raw_event: 1, name: '$logs' })),
      tell(() => $.send.emit(1, 'x\\u0000')),
      tell(() => $.send.sse({ channel: 'x\\ud800', payload: 1 })),
      tell(() => $.send.emit(1, 'own')),
    ];`);
  const flow = await makeWorkflow(node, {
    triggers: [{ type: 'http' }],
    steps: [{ namespace: 'a', component_code: code }],
  });
  await post(flow.triggers[0].endpoint_url, {});
  const [execution] = await untilExecutions(node.sql, flow.id, 1);
  const builtIn = (name: string) => `$.send.emit: name: ${name} is a built-in channel, which only the system writes to`;
  const unstorable = 'contains a NUL character or half of a surrogate pair, which cannot be stored';
  expect(execution?.steps[0]?.value).toEqual([
    builtIn('$errors'),
    builtIn('$logs'),
    `$.send.emit: name ${unstorable}`,
    `$.send.sse: channel ${unstorable}`,
    'done',
  ]);
});

const BAD = Buffer.from('{"name":"caf\xe9"}', 'latin1');

test.each([
  ['POST', '/v1/data_stores', 'application/json', BAD],
  ['POST', '/v1/api_keys', 'application/json', BAD],
  ['POST', '/v1/data_stores', 'application/x-www-form-urlencoded', Buffer.from('name=caf\xe9', 'latin1')],
  ['POST', '/v1/data_stores', 'application/x-www-form-urlencoded', Buffer.from('name=caf%E9')],
  ['POST', '/v1/data_stores?name=caf%E9', 'application/json', Buffer.from('{}')],
  ['POST', '/v1/data_stores', 'application/json', Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1')],
  ['POST', '/v1/data_stores', 'application/json', Buffer.from('{"name":"\\ud800"}')],
  ['POST', '/v1/data_stores', 'application/json', Buffer.from('{"name":"a\\u0000"}')],
])('%s %s with bytes that are no text is refused and stores nothing: %s, %s', async (method, path, type, body) => {
  const response = await fetch(node.url + path, {
    method,
    headers: { authorization: `Bearer ${node.apiKey}`, 'content-type': type },
    body: new Uint8Array(body),
  });
  expect(response.status).toBe(400);
  expect((await node.api('GET', '/data_stores')).data).toEqual([]);
});

test('a byte order mark before a body of the API is passed over', async () => {
  const response = await fetch(`${node.url}/v1/data_stores`, {
    method: 'POST',
    headers: { authorization: `Bearer ${node.apiKey}` },
    body: '\uFEFF{"name":"café"}',
  });
  expect([response.status, ((await response.json()) as { data: { name: string } }).data.name]).toEqual([200, 'café']);
});
