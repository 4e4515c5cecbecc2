import { LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecret, readSecret, signatures } from '../../../engine/src/outbox/transports/webhook/sign.ts';
import { findSignatureFault } from '../../../engine/src/outbox/webhooks/verify-signature.ts';
import {
  expireSampleRequests,
  insertSampleRequests,
} from '../../../engine/src/outbox/sample-receiver/sample-requests.sql.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const EMITS = `export default { name: 'Emits', version: '1.0.0', async run(event) { this.$emit(event); } };`;

async function accountOf(name: string): Promise<Headwater['api']> {
  return hw.as((await hw.admin('POST', '/accounts', { name })).data.api_key);
}

/** A webhook with that URL, and what became of the first event that it was sent. */
async function deliver(api: Headwater['api'], url: string, event: unknown = { order: 1 }) {
  const { data: source } = await api('POST', '/sources', { component_code: EMITS });
  const { data: webhook } = await api('POST', '/webhooks', { url });
  await api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  await api('POST', `/sources/${source.id}/run`, { event });
  const delivery = await eventually(
    async () => {
      const [found] = (await api('GET', `/webhooks/${webhook.id}/deliveries`)).data;
      return found !== undefined && found.attempts.length > 0 && found;
    },
    { timeoutMs: 60_000 },
  );
  return { webhook, delivery };
}

async function got(api: Headwater['api']) {
  const { status, data, text } = await api('GET', '/sample_receiver/requests', { limit: 100 });
  expect([status, text.slice(0, 80)]).toEqual([200, expect.anything()]);
  return data;
}

test('a delivery is handed over within the node, kept, and its signature is checked', async () => {
  const api = await accountOf('First');
  const { url } = (await api('GET', '/sample_receiver')).data;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sample-receiver\/[0-9A-Za-z]{32}$/);
  expect((await api('GET', '/sample_receiver')).data.url).toBe(url);
  const { webhook, delivery } = await deliver(api, url, { text: 'žluťoučký \u0000 kůň' });
  expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ status_code: 200 }] });
  const [request, ...others] = await got(api);
  expect(others).toEqual([]);
  expect(request).toMatchObject({
    webhook_id: webhook.id,
    delivery_id: delivery.id,
    verified: true,
    verdict: 'The signature is verified',
    body: JSON.stringify({ text: 'žluťoučký \u0000 kůň' }),
  });
  expect(request.body_bytes).toBe(Buffer.byteLength(request.body));
  expect(request.headers['webhook-signature']).toMatch(/^v1,/);
  expect((await api('DELETE', '/sample_receiver/requests')).status).toBe(204);
  expect(await got(api)).toEqual([]);
}, 120_000);

test('no way leads to the receiver of another account, and none around the guard of the own ports', async () => {
  const [victim, attacker] = [await accountOf('Victim'), await accountOf('Attacker')];
  const theirs: string = (await victim('GET', '/sample_receiver')).data.url;
  const own: string = (await attacker('GET', '/sample_receiver')).data.url;
  const { origin, port } = new URL(own);
  const outcomes = await Promise.all(
    [
      theirs,
      `${origin}/sample-receiver/${'x'.repeat(32)}`,
      `${own}?`,
      `${own}/..`,
      `${own}/../../v1/accounts`,
      `${origin}/v1/sample_receiver/../../sample-receiver/${theirs.slice(-32)}`,
    ].map(async (url) => {
      const { attempts } = (await deliver(attacker, url)).delivery;
      return [attempts[0].status_code, attempts[0].error];
    }),
  );
  // Below the receivers' path, no server answers: the status is 404. The guard refuses paths that
  // only look similar.
  const [refused, unknown] = [outcomes[4], [404, null]];
  expect(outcomes).toEqual([unknown, unknown, unknown, unknown, refused, unknown]);
  expect(refused).toEqual([null, expect.stringContaining('is not reached from here')]);
  for (const url of [
    `http://localhost:${port}${new URL(own).pathname}`,
    `${origin}/sample%2Dreceiver/${own.slice(-32)}`,
  ]) {
    const { attempts } = (await deliver(attacker, url)).delivery;
    expect(attempts[0]).toMatchObject({
      status_code: null,
      error: expect.stringContaining('is not reached from here'),
    });
  }
  expect(await got(victim)).toEqual([]);
  expect(await got(attacker)).toEqual([]);
  // Requests from outside are refused as well, even with the address.
  expect((await fetch(theirs, { method: 'POST', body: '{}' })).status).toBe(404);
}, 180_000);

test('the newest requests of each account are kept for a time, each with the beginning of its body', async () => {
  const { sql, accountId } = hw;
  const nowMs = Date.now();
  const rows = Array.from({ length: LIMITS.maxSampleRequests + 20 }, (_, i) => ({
    id: newId('sampleRequest', nowMs + i),
    accountId,
    webhookId: 'wh_1',
    deliveryId: `dlv_${i}`,
    headers: {},
    body: '1',
    bodyBytes: 1,
    verified: false,
    verdict: 'no',
  }));
  await insertSampleRequests(sql, rows.slice(0, 60));
  await insertSampleRequests(sql, rows.slice(60));
  const kept = await got(hw.api);
  expect(kept.length).toBe(LIMITS.maxSampleRequests);
  expect(kept[0].delivery_id).toBe(`dlv_${rows.length - 1}`);
  expect(kept.at(-1).delivery_id).toBe('dlv_20');
  expect(await expireSampleRequests(sql, nowMs - 60_000, 1000)).toBe(0);
  expect(await expireSampleRequests(sql, Date.now() + 60_000, 1000)).toBe(LIMITS.maxSampleRequests);
  const { url } = (await hw.api('GET', '/sample_receiver')).data;
  await deliver(hw.api, url, { long: 'x'.repeat(100_000) });
  const [long] = await got(hw.api);
  expect([long.body.length, long.verified]).toEqual([LIMITS.maxSampleBodyBytes, true]);
  expect(long.body_bytes).toBeGreaterThan(100_000);
}, 120_000);

test('a signature is good or the verdict says why not', () => {
  const nowMs = 1_763_640_000_000;
  const key = readSecret(createSecret());
  const body = Buffer.from('{"order":1}');
  const at = (timestampSeconds: number, keys = [key], signedBody = body) => ({
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures(keys, { id: 'evt_1', timestampSeconds, body: signedBody }),
  });
  const good = at(nowMs / 1000);
  const fault = (headers: Record<string, string>) => findSignatureFault(key, { headers, body }, nowMs);
  expect(fault(good)).toBeUndefined();
  expect(fault(at(nowMs / 1000, [readSecret(createSecret()), key]))).toBeUndefined();
  expect(fault(at(nowMs / 1000, [readSecret(createSecret())]))).toMatch(/does not fit/);
  expect(fault(at(nowMs / 1000, [key], Buffer.from('{"order":2}')))).toMatch(/does not fit/);
  expect(fault({ ...good, 'webhook-id': 'evt_2' })).toMatch(/does not fit/);
  expect(fault({ ...good, 'webhook-signature': 'v1,' })).toMatch(/does not fit/);
  expect(fault(at(nowMs / 1000 - 301))).toMatch(/300 seconds away/);
  expect(fault(at(nowMs / 1000 + 301))).toMatch(/300 seconds away/);
  expect(fault({ ...good, 'webhook-timestamp': 'now' })).toMatch(/no number/);
  expect(fault({})).toMatch(/lacks/);
});
