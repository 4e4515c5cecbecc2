import { createPublicKey, verify } from 'node:crypto';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import type { Resolver } from '../../../engine/src/egress/guard.ts';
import { createDeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type ReceivedRequest, type Receiver, startReceiver } from '../../support/receiver.ts';
import { AUTHORITY, CLIENT, SERVER } from '../../support/test-certificates.ts';

let hw: Headwater;
let receiver: Receiver;

beforeAll(async () => {
  [hw, receiver] = await Promise.all([sharedHeadwater(), startReceiver()]);
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});
afterEach(() => {
  receiver.requests.length = 0;
  receiver.answer = { status: 200 };
});

async function webhookWith(settings: object = {}): Promise<{ id: string }> {
  const { status, data, text } = await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook`, ...settings });
  if (status !== 200) throw new Error(text);
  return data;
}

const change = async (id: string, settings: Record<string, unknown>) =>
  (await hw.api('PUT', `/webhooks/${id}`, settings)).data;
const test1 = async (id: string, event: unknown = { n: 1 }) =>
  (await hw.api('POST', `/webhooks/${id}/test`, { event })).data;

describe('forbidden destinations', () => {
  test.each([
    ['http://93.184.216.34:25/', /url is not reached from here: Port 25 of 93\.184\.216\.34 is not reached/],
    ['https://shop.example.com:6000/', /Port 6000/],
    ['http://10.0.0.8/hook', /10\.0\.0\.8 is not a public address/],
    ['http://[fd00::1]/hook', /fd00::1 is not a public address/],
    ['http://0xa9fea9fe/latest/', /169\.254\.169\.254 is not a public address/],
  ])('no webhook leads: %s', async (url, says) => {
    const made = await hw.api('POST', '/webhooks', { url });
    expect([made.status, made.text]).toEqual([400, expect.stringMatching(says)]);
    const { id } = await webhookWith();
    expect((await hw.api('PUT', `/webhooks/${id}`, { url })).status).toBe(400);
    const auth = { type: 'oauth2_client_credentials', token_url: url, client_id: 'a', client_secret: 'b' };
    expect((await hw.api('PUT', `/webhooks/${id}`, { auth })).text).toMatch(/auth\.token_url is not reached/);
  });

  test.each<[host: string, resolver: Resolver, errorClass: string, says: RegExp]>([
    ['shop.example.com', unknown('ENOTFOUND'), 'connection', /^Name not found: shop\.example\.com has no address/],
    ['shop.example.com', unknown('ETIMEOUT'), 'connection', /^Name not found: no name server gave/],
    ['shop.example.com', found('10.0.0.8'), 'refused', /^Address not allowed: shop\.example\.com leads to/],
    ['db.internal', unknown('ENOTFOUND'), 'refused', /^No public address was found for db\.internal/],
    ['db.internal', found('10.0.0.8'), 'refused', /^No public address was found for db\.internal/],
    ['db', found('10.0.0.8'), 'refused', /^No public address was found for db\./],
  ])('an attempt says why: %s', async (host, resolver, errorClass, says) => {
    const world = await createDeliveryWorld();
    const who = await world.account();
    const webhook = await world.webhook(who, { url: `http://${host}/` });
    const egress = createEgress({ allow: [], deniedPorts: () => [], resolver });
    const deliverer = world.deliverer({ node: 'node_a', egress });
    deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
    const [made] = await eventually(async () => {
      const [row] = await world.rows(webhook.id);
      return row?.leased_by === null && row.attempts;
    });
    expect(made).toMatchObject({ error: expect.stringMatching(says), error_class: errorClass });
    await world.stop();
  });
});

test('a redirect is not followed, and the attempt says where it pointed', async () => {
  receiver.answer = { status: 307, headers: { location: `${receiver.url}/elsewhere` } };
  const { id } = await webhookWith();
  expect((await test1(id)).attempt).toMatchObject({
    status_code: 307,
    location: `${receiver.url}/elsewhere`,
    error_class: 'http_3xx',
  });
  expect(receiver.requests).toHaveLength(1);
});

describe('format and method', () => {
  const event = { order: 7 };

  async function sent(format: string): Promise<{ request: ReceivedRequest; source: string; id: string }> {
    const webhook = await webhookWith({ format, method: 'PUT' });
    const source = await hw.deploy(
      `export default { name: 'Emit', version: '1', run(event) { this.$emit(event, { name: 'ordérs "a" %' }); } };`,
    );
    await hw.api('POST', '/subscriptions', {
      emitter_id: source.id,
      listener_id: webhook.id,
      event_name: 'ordérs "a" %',
    });
    await hw.api('POST', `/sources/${source.id}/run`, { event });
    const [request] = await receiver.until(1);
    const [stored] = await hw.untilEvents(source.id, 1);
    return { request: request as ReceivedRequest, source: source.id, id: String(stored?.id) };
  }

  test('CloudEvents structured: one JSON object, with the event in it', async () => {
    const { request, source, id } = await sent('cloudevents');
    expect(request.method).toBe('PUT');
    expect(request.headers['content-type']).toBe('application/cloudevents+json; charset=utf-8');
    expect(JSON.parse(request.body)).toEqual({
      specversion: '1.0',
      id,
      source: `urn:headwater:${source}`,
      type: 'ordérs "a" %',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      datacontenttype: 'application/json',
      data: event,
    });
  });

  test('CloudEvents binary: the event as it is, the attributes in headers', async () => {
    const { request, source, id } = await sent('cloudevents-binary');
    expect(request.body).toBe(JSON.stringify(event));
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': id,
      'ce-source': `urn:headwater:${source}`,
      'ce-type': 'ord%C3%A9rs%20%22a%22%20%25',
    });
    expect(Number.isNaN(Date.parse(String(request.headers['ce-time'])))).toBe(false);
  });

  test('an own user agent is sent, and an unknown format or method is refused', async () => {
    const { id } = await webhookWith({ headers: { 'user-agent': 'shop/2' } });
    await test1(id);
    expect(receiver.requests[0]?.headers['user-agent']).toBe('shop/2');
    expect((await hw.api('PUT', `/webhooks/${id}`, { format: 'xml' })).status).toBe(400);
    expect((await hw.api('PUT', `/webhooks/${id}`, { method: 'GET' })).status).toBe(400);
    expect((await hw.api('PUT', `/webhooks/${id}`, { headers: { 'ce-id': '1' } })).status).toBe(400);
  });
});

describe('authentication', () => {
  test('basic and bearer are sent, sealed, and never shown', async () => {
    const webhook = await webhookWith({
      auth: { type: 'basic', username: 'shop', password: 'pä:ss' },
      headers: { authorization: 'own' },
    });
    const shown = await hw.api('GET', `/webhooks/${webhook.id}`);
    expect(shown.data.auth).toEqual({ type: 'basic', username: 'shop' });
    const { attempt } = await test1(webhook.id);
    expect(attempt.request_headers.authorization).toBe('[redacted]');
    const basic = `Basic ${Buffer.from('shop:pä:ss').toString('base64')}`;
    expect(receiver.requests[0]?.headers.authorization).toBe(basic);
    const bearer = await change(webhook.id, { auth: { type: 'bearer', token: 'tok-6f1c' } });
    expect(bearer.auth).toEqual({ type: 'bearer' });
    await test1(webhook.id);
    expect(receiver.requests[1]?.headers.authorization).toBe('Bearer tok-6f1c');
    const [row] = await hw.sql`select w::text as text from webhooks w where id = ${webhook.id}`;
    expect(row?.['text']).not.toContain('6f1c');
    expect((await change(webhook.id, { auth: null })).auth).toBeNull();
    await test1(webhook.id);
    expect(receiver.requests[2]?.headers.authorization).toBe('own');
  });

  test.each<[auth: object, says: RegExp]>([
    [{ type: 'basic', username: 'a:b', password: 'c' }, /auth\.username has a character that cannot be sent/],
    [{ type: 'bearer', token: 'a b' }, /auth\.token has a character/],
    [{ type: 'bearer' }, /auth\.token/],
    [{ type: 'digest' }, /auth\.type/],
    [{ type: 'bearer', token: 'a', scope: 'b' }, /scope/],
    [{ type: 'oauth2_client_credentials', token_url: 'x', client_id: 'a', client_secret: 'b' }, /auth\.token_url/],
  ])('is refused where it cannot be sent: %j', async (auth, says) => {
    const { status, text } = await hw.api('POST', '/webhooks', { url: receiver.url, auth });
    expect([status, text]).toEqual([400, expect.stringMatching(says)]);
  });

  test('an OAuth token is asked for once, kept, and renewed once after a 401', async () => {
    const tokens = await startReceiver();
    let issued = 0;
    let accepted = 'token-1';
    tokens.answer = () => ({ body: JSON.stringify({ access_token: `token-${++issued}`, expires_in: 3_600 }) });
    receiver.answer = ({ headers }) => ({ status: headers.authorization === `Bearer ${accepted}` ? 200 : 401 });
    const { id } = await webhookWith({
      auth: {
        type: 'oauth2_client_credentials',
        token_url: `${tokens.url}/token?a=1`,
        client_id: 'shop:1',
        client_secret: 's3cr&t',
        scope: 'hooks write',
      },
    });
    expect((await hw.api('GET', `/webhooks/${id}`)).data.auth).toEqual({
      type: 'oauth2_client_credentials',
      token_url: `${tokens.url}/token?a=1`,
      client_id: 'shop:1',
      scope: 'hooks write',
    });
    const all = await Promise.all([test1(id), test1(id), test1(id)]);
    expect(all.map(({ delivered }) => delivered)).toEqual([true, true, true]);
    expect(issued).toBe(1);
    const [asked] = tokens.requests;
    expect(asked).toMatchObject({
      method: 'POST',
      url: '/token?a=1',
      body: 'grant_type=client_credentials&scope=hooks+write',
    });
    expect(asked?.headers.authorization).toBe(`Basic ${Buffer.from('shop%3A1:s3cr%26t').toString('base64')}`);
    accepted = 'token-2';
    expect(await test1(id)).toMatchObject({ delivered: true });
    expect(issued).toBe(2);
    // A receiver that accepts none: one renewal, and the attempt has failed.
    accepted = 'none';
    expect(await test1(id)).toMatchObject({ delivered: false, attempt: { status_code: 401 } });
    expect(issued).toBe(3);
    expect(receiver.requests).toHaveLength(3 + 2 + 2);
    await tokens.stop();
  });

  test('a token that is not given is a failed attempt that says so, and repeats no secret', async () => {
    const tokens = await startReceiver();
    tokens.answer = { status: 401, body: JSON.stringify({ error: 'invalid_client', error_description: 's3cr3t' }) };
    const auth = { type: 'oauth2_client_credentials', client_id: 'a', client_secret: 's3cr3t' };
    const { id } = await webhookWith({ auth: { ...auth, token_url: tokens.url } });
    const { attempt } = await test1(id);
    expect(attempt.error).toMatch(/^No access token: 127\.0\.0\.1:\d+ answered 401 invalid_client$/);
    expect(attempt.error_class).toBe('internal');
    expect(receiver.requests).toEqual([]);
    await tokens.stop();
  });
});

describe('TLS', () => {
  /** Answers with the client's name. `requestCert`: requires a certificate of the authority. */
  async function startSecure(requestCert: boolean) {
    const server = createSecureServer({ ...SERVER, ca: AUTHORITY, requestCert, rejectUnauthorized: requestCert });
    server.on('request', (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      response.end(`hello ${subject === undefined ? 'stranger' : String(subject.CN)}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const stop = () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    return { url: `https://127.0.0.1:${port}/hook`, stop };
  }

  test('a receiver with a private certificate is trusted only by webhooks that name its authority', async () => {
    const server = await startSecure(false);
    const trusting = await webhookWith({ url: server.url, ca_certificate: AUTHORITY });
    const other = await webhookWith({ url: server.url });
    for (let round = 0; round < 2; round++) {
      const { delivered, attempt } = await test1(trusting.id);
      expect([delivered, attempt.response]).toEqual([true, 'hello stranger']);
      expect([attempt.phases.tls_ms > 0, attempt.reused]).toEqual([round === 0, round === 1]);
      // Not over the connection of the other one either.
      expect((await test1(other.id)).attempt.error).toMatch(/TLS certificate of 127\.0\.0\.1:\d+ is not accepted/);
    }
    await change(trusting.id, { ca_certificate: null });
    expect((await test1(trusting.id)).delivered).toBe(false);
    await server.stop();
  });

  test('a receiver that asks for a certificate gets that of the webhook', async () => {
    const server = await startSecure(true);
    const { id } = await webhookWith({ url: server.url, ca_certificate: AUTHORITY });
    expect((await test1(id)).delivered).toBe(false);
    const shown = await change(id, { client_certificate: CLIENT.cert, client_key: CLIENT.key });
    expect(shown.client_certificate).toBe(CLIENT.cert);
    expect(JSON.stringify(shown)).not.toContain('PRIVATE KEY');
    expect(await test1(id)).toMatchObject({ delivered: true, attempt: { response: 'hello Test client' } });
    const [row] = await hw.sql`select w::text as text from webhooks w where id = ${id}`;
    expect(row?.['text']).not.toContain('PRIVATE KEY');
    expect((await change(id, { client_certificate: null, client_key: null })).client_certificate).toBeNull();
    expect((await test1(id)).delivered).toBe(false);
    await server.stop();
  });

  test.each<[settings: object, says: RegExp]>([
    [{ ca_certificate: 'trust me' }, /ca_certificate must be certificates in PEM form/],
    [{ ca_certificate: CLIENT.key }, /ca_certificate must be certificates in PEM form/],
    [{ ca_certificate: AUTHORITY.replace('MII', 'AAA') }, /ca_certificate has a certificate that cannot be read/],
    [{ client_certificate: CLIENT.cert }, /client_key goes with client_certificate/],
    [{ client_certificate: CLIENT.cert, client_key: SERVER.key }, /client_key is not the key of client_certificate/],
    [{ client_certificate: CLIENT.cert, client_key: 'x' }, /client_key must be a private key in PEM form/],
  ])('is refused where it makes no sense: %#', async (settings, says) => {
    const { status, text } = await hw.api('POST', '/webhooks', { url: receiver.url, ...settings });
    expect([status, text]).toEqual([400, expect.stringMatching(says)]);
  });
});

function found(address: string): Resolver {
  return (_, done) => done(null, [{ address, family: 4 }]);
}

function unknown(code: string): Resolver {
  return (_, done) => done(Object.assign(new Error(code), { code }), []);
}

describe('v1a', () => {
  const isGood = (publicKey: string, { headers, body }: ReceivedRequest) => {
    const raw = Buffer.from(publicKey.slice('whpk_'.length), 'base64');
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]);
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    const signed = Buffer.from([headers['webhook-id'], headers['webhook-timestamp'], body].join('.'));
    const all = String(headers['webhook-signature']).split(' ');
    return all.some((one) => one.startsWith('v1a,') && verify(null, signed, key, Buffer.from(one.slice(4), 'base64')));
  };

  test('is chosen at creation, or by a rotation, in whose overlap both sign; the private key is never shown', async () => {
    const made = await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook`, signature: 'v1a' });
    expect(made.data).toMatchObject({ signature: 'v1a', secret: null, public_key: expect.stringMatching(/^whpk_/) });
    expect(made.text).not.toContain('whsk_');
    await test1(made.data.id);
    const [first] = receiver.requests as [ReceivedRequest];
    expect(first.headers['webhook-signature']).toMatch(/^v1a,[^ ]+$/);
    expect(isGood(made.data.public_key, first)).toBe(true);

    const { id, secret } = (await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook` })).data;
    const rotated = (await hw.api('POST', `/webhooks/${id}/rotate_secret`, { signature: 'v1a' })).data;
    expect(rotated).toMatchObject({ secret: null, public_key: expect.stringMatching(/^whpk_/) });
    await test1(id);
    const both = receiver.requests.at(-1) as ReceivedRequest;
    expect(isGood(rotated.public_key, both)).toBe(true);
    expect(new Webhook(secret).verify(both.body, both.headers as Record<string, string>)).toEqual({ n: 1 });
    // Another rotation keeps the kind.
    const again = (await hw.api('POST', `/webhooks/${id}/rotate_secret`, { overlap_hours: 0 })).data;
    await test1(id);
    const last = receiver.requests.at(-1) as ReceivedRequest;
    expect([isGood(again.public_key, last), isGood(rotated.public_key, last)]).toEqual([true, false]);
    const back = (await hw.api('POST', `/webhooks/${id}/rotate_secret`, { signature: 'v1' })).data;
    expect(back).toMatchObject({ secret: expect.stringMatching(/^whsec_/), public_key: null });
  });

  test('takes a key of the owner, and refuses one of another kind', async () => {
    const key = `whsk_${Buffer.alloc(32, 7).toString('base64')}`;
    const url = `${receiver.url}/hook`;
    expect((await hw.api('POST', '/webhooks', { url, secret: key })).data).toMatchObject({ signature: 'v1a' });
    expect((await hw.api('POST', '/webhooks', { url, secret: key, signature: 'v1' })).status).toBe(400);
    expect((await hw.api('POST', '/webhooks', { url, secret: 'whsk_AAAA' })).text).toMatch(
      /whsk_ and base64 of an Ed25519/,
    );
  });
});
