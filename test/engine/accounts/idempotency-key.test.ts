import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { allEndpoints } from '../../../api/src/app.ts';
import { loadMasterKeys } from '../../../engine/src/secrets/master-key.ts';
import { createSealer } from '../../../engine/src/secrets/seal.ts';
import { expireIdempotencyKeys } from '../../../engine/src/accounts/idempotency-keys.sql.ts';
import { readSealedValues } from '../../../engine/src/secrets/read-sealed-values.sql.ts';
import { replaceSealedValues } from '../../../engine/src/secrets/replace-sealed-values.sql.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { createTestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { API_KEY, killNode, startServer } from '../../support/server.ts';

let hw: Headwater;
let receiver: Receiver;

beforeAll(async () => {
  [hw, receiver] = await Promise.all([startHeadwater(), startReceiver()]);
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});
afterEach(() => {
  receiver.requests.length = 0;
  receiver.answer = { status: 200 };
});

let keys = 0;
const newKey = () => `key-${++keys}`;

/** Sends a POST as a client does, and returns the answer. */
async function post(path: string, body: object, key?: string, { url, apiKey }: { url: string; apiKey: string } = hw) {
  const response = await fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  });
  const { status, headers } = response;
  const text = await response.text();
  return { status, headers, text, isReplayed: headers.get('idempotent-replayed') === 'true' };
}

const webhook = (name: string) => ({ url: `${receiver.url}/hook`, name });
const webhooksNamed = async (name: string) =>
  (await hw.api('GET', '/users/me/webhooks', { limit: 100 })).data.filter((one: { name: string }) => one.name === name);

describe('a request that is sent again with its key', () => {
  test('gets the same answer, and is carried out once', async () => {
    const key = newKey();
    const first = await post('/webhooks', webhook('once'), key);
    expect([first.status, first.isReplayed]).toEqual([200, false]);
    const again = await post('/webhooks', webhook('once'), key);
    expect(again).toMatchObject({ status: 200, text: first.text, isReplayed: true });
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(await webhooksNamed('once')).toHaveLength(1);
  });

  test('has its headers, and an answer without a body', async () => {
    const source = await hw.deploy(`export default { name: 'S', version: '1', run(e) { this.$emit(e); } };`);
    const key = newKey();
    const first = await post(`/sources/${source.id}/run`, { event: 1 }, key);
    const again = await post(`/sources/${source.id}/run`, { event: 1 }, key);
    expect(again.headers.get('x-headwater-run')).toBe(first.headers.get('x-headwater-run'));
    expect(await hw.untilEvents(source.id, 1)).toHaveLength(1);
  });

  test('may quote the key', async () => {
    const first = await post('/webhooks', webhook('quoted'), '"quoted-key"');
    expect(await post('/webhooks', webhook('quoted'), 'quoted-key')).toMatchObject({
      text: first.text,
      isReplayed: true,
    });
  });

  test('gets an error that it had, too', async () => {
    const key = newKey();
    const body = { emitter_id: 'dc_0', listener_id: 'wh_0' };
    const first = await post('/subscriptions', body, key);
    expect(first.status).toBeGreaterThanOrEqual(400);
    const again = await post('/subscriptions', body, key);
    expect(again).toMatchObject({ status: first.status, text: first.text, isReplayed: true });
    expect(again.headers.get('content-type')).toBe('application/problem+json');
  });

  test('is carried out after all where it was refused for now', async () => {
    const { data } = await hw.api('POST', '/sources', { kind: 'ingest', name: 'refused' });
    const made = (await hw.api('POST', '/webhooks', webhook('a'))).data;
    const other = (await hw.api('POST', '/webhooks', webhook('b'))).data;
    for (const { id } of [made, other])
      await hw.api('POST', '/subscriptions', { emitter_id: data.id, listener_id: id });
    const key = newKey();
    await hw.limit({ maxQueuedDeliveries: 1 });
    expect((await post(`/sources/${data.id}/events`, { data: 1 }, key)).status).toBe(429);
    await hw.limit({ maxQueuedDeliveries: null });
    expect(await post(`/sources/${data.id}/events`, { data: 1 }, key)).toMatchObject({
      status: 200,
      isReplayed: false,
    });
  });

  test('is another one for another account', async () => {
    const key = newKey();
    const first = await post('/webhooks', webhook('mine'), key);
    const account = (await hw.admin('POST', '/accounts', { name: 'Other' })).data;
    const other = await post('/webhooks', webhook('mine'), key, { url: hw.url, apiKey: account.api_key });
    expect(other).toMatchObject({ status: 200, isReplayed: false });
    expect(other.text).not.toBe(first.text);
  });

  test('is the same for the operator', async () => {
    const apiKey = `hw_${'a'.repeat(32)}`;
    const key = newKey();
    const first = await post('/accounts', { name: 'Keyed' }, key, { url: hw.url, apiKey });
    expect(first.status).toBe(200);
    const again = await post('/accounts', { name: 'Keyed' }, key, { url: hw.url, apiKey });
    expect(again).toMatchObject({ text: first.text, isReplayed: true });
  });
});

describe('a key', () => {
  test('with another body or path is refused', async () => {
    const key = newKey();
    await post('/webhooks', webhook('first'), key);
    for (const answer of [
      await post('/webhooks', webhook('second'), key),
      await post('/webhooks?name=x', webhook('first'), key),
    ]) {
      expect([answer.status, JSON.parse(answer.text).type]).toEqual([422, 'urn:headwater:error:key-reused']);
    }
    expect(await webhooksNamed('second')).toEqual([]);
  });

  test.each(['', '""', 'x'.repeat(256), 'ünlaut'])('with a malformed value is refused: %s', async (key) => {
    const sent = Buffer.from(key).toString('latin1');
    const { status, text } = await post('/webhooks', webhook('none'), sent);
    expect([status, text]).toEqual([400, expect.stringContaining('idempotency-key')]);
  });

  test('stays free after a request with a mistake', async () => {
    const key = newKey();
    expect((await post('/webhooks', { url: 'nothing' }, key)).status).toBe(400);
    expect((await post('/webhooks', webhook('mended'), key)).status).toBe(200);
  });

  test('tells a second request to retry while the first is under way', async () => {
    const gate = Promise.withResolvers<void>();
    receiver.answer = { after: gate.promise };
    const { id } = (await hw.api('POST', '/webhooks', webhook('slow'))).data;
    const key = newKey();
    const first = post(`/webhooks/${id}/test`, {}, key);
    await receiver.until(1);
    const meanwhile = await post(`/webhooks/${id}/test`, {}, key);
    expect(meanwhile.status).toBe(409);
    expect(Number(meanwhile.headers.get('retry-after'))).toBeGreaterThan(0);
    gate.resolve();
    const { text } = await first;
    expect(await post(`/webhooks/${id}/test`, {}, key)).toMatchObject({ text, isReplayed: true });
    expect(receiver.requests).toHaveLength(1);
  });

  test('lets one of many requests at once be carried out', async () => {
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 12 }, () => post('/webhooks', webhook('at-once'), key)));
    expect(new Set(answers.map(({ status }) => status)).difference(new Set([200, 409])).size).toBe(0);
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1);
    expect(await webhooksNamed('at-once')).toHaveLength(1);
  });

  test('is forgotten after a day', async () => {
    const key = newKey();
    await post('/webhooks', webhook('old'), key);
    expect(await expireIdempotencyKeys(hw.sql, 1_000)).toBe(0);
    await hw.sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = ${key}`;
    expect(await expireIdempotencyKeys(hw.sql, 1_000)).toBe(1);
    expect((await post('/webhooks', webhook('old'), key)).isReplayed).toBe(false);
    expect(await webhooksNamed('old')).toHaveLength(2);
  });

  test('too many of which there are is refused, and others go on', async () => {
    const account = (await hw.admin('POST', '/accounts', { name: 'Many keys' })).data;
    await hw.sql`
      insert into idempotency_keys (account_id, key, fingerprint, claimed_by, claim_id, status)
      select ${account.id}, 'k' || n, '', '', '', 200 from generate_series(1, ${LIMITS.maxIdempotencyKeys}::int4) n`;
    const to = { url: hw.url, apiKey: account.api_key };
    const refused = await post('/webhooks', webhook('x'), newKey(), to);
    expect([refused.status, JSON.parse(refused.text).limit.name]).toEqual([429, 'maxIdempotencyKeys']);
    expect((await post('/webhooks', webhook('x'), undefined, to)).status).toBe(200);
    expect((await post('/webhooks', webhook('x'), newKey())).status).toBe(200);
  });
});

describe('an answer', () => {
  test('is sealed: a secret in it is not in the database', async () => {
    const key = newKey();
    const { text } = await post('/api_keys', { name: 'shown once' }, key);
    const secret = JSON.parse(text).data.api_key as string;
    const [row] = await hw.sql<{ answer: string }[]>`select answer from idempotency_keys where key = ${key}`;
    expect(row?.answer).toMatch(/^v2\./);
    expect(JSON.stringify(row)).not.toContain(secret);
    expect((await post('/api_keys', { name: 'shown once' }, key)).text).toContain(secret);
  });

  test('is sealed anew when the master key is replaced', async () => {
    const key = newKey();
    const { text } = await post('/api_keys', { name: 'rotated' }, key);
    const values = await readSealedValues(hw.sql, 'another form', undefined, 1_000);
    const value = values.find(({ prop }) => prop === key);
    if (value === undefined) throw new Error('The answer is none of the sealed values');
    const loaded = await loadMasterKeys({ encryptionKey: '5'.repeat(64), dataDir: '', embedded: false });
    const sealed = createSealer(loaded.keys).rewrap(value.accountId, value.sealed);
    expect(await replaceSealedValues(hw.sql, [{ value, sealed }])).toBe(1);
    expect((await post('/api_keys', { name: 'rotated' }, key)).text).toBe(text);
  });

  test('above the limit is not kept, and nothing is done twice', async () => {
    const key = newKey();
    const code = `export default { name: 'Large', version: '1', run() {} }; // ${'x'.repeat(LIMITS.maxKeptAnswerBytes)}`;
    expect((await post('/components', { component_code: code }, key)).status).toBe(200);
    const again = await post('/components', { component_code: code }, key);
    expect([again.status, JSON.parse(again.text).limit.name]).toEqual([409, 'maxKeptAnswerBytes']);
  });
});

test('every POST of the document takes a key, and no other request', async () => {
  const document = (await (await fetch(`${hw.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>;
  };
  const takes = new Map<string, boolean>();
  for (const { method, path } of allEndpoints()) {
    const names =
      document.paths[path]?.[method]?.parameters?.filter((one) => one.in === 'header').map(({ name }) => name) ?? [];
    takes.set(`${method} ${path}`, names.includes('idempotency-key'));
  }
  for (const [operation, isTaken] of takes)
    expect([operation, isTaken]).toEqual([operation, operation.startsWith('post ')]);
});

test('a node is killed during the request: its key answers that the outcome is unknown', async () => {
  const database = await createTestDatabase();
  const gate = createServer(() => undefined);
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  const { port } = gate.address() as { port: number };
  const begun = new Promise((resolve) => gate.once('request', resolve));
  let server = await startServer({ databaseUrl: database.url, ownSession: true });
  const at = () => ({ url: server.url, apiKey: API_KEY });
  const made = JSON.parse((await post('/webhooks', { url: `http://127.0.0.1:${port}/` }, undefined, at())).text).data;
  const first = post(`/webhooks/${made.id}/test`, {}, 'cut-off', at()).catch(() => undefined);
  await begun;
  process.kill(-server.process.pid, 'SIGKILL');
  await killNode(server, database.db.sql);
  await first;
  server = await startServer({ databaseUrl: database.url, ownSession: true });
  const unknown = await eventually(
    async () => {
      const answer = await post(`/webhooks/${made.id}/test`, {}, 'cut-off', at());
      expect(answer.status).toBe(409);
      return answer.headers.get('retry-after') === null && answer;
    },
    { timeoutMs: 60_000, what: 'the dead node to be released' },
  );
  expect(unknown.text).toContain('so the outcome is unknown');
  process.kill(-server.process.pid, 'SIGKILL');
  await killNode(server, database.db.sql);
  gate.closeAllConnections();
  gate.close();
  await database.drop();
});
