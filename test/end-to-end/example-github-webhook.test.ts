import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type DeployedSource, type Headwater, readExample, sharedHeadwater } from '../support/headwater.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const SECRET = "It's a Secret to Everybody";

let hw: Headwater;
let receiver: Receiver;
let push: string;

beforeAll(async () => {
  hw = await sharedHeadwater();
  receiver = await startReceiver();
  push = await readFile(new URL('../../examples/fixtures/github-push.json', import.meta.url), 'utf8');
});
afterAll(async () => {
  await receiver?.stop();
  await hw?.stop();
});

async function deploy(props: Record<string, unknown> = {}): Promise<DeployedSource> {
  return hw.deploy(await readExample('github-webhook.mjs'), { secret: SECRET, ...props });
}

interface Delivery {
  event?: string;
  delivery?: string;
  body?: string;
  contentType?: string;
  /** Undefined: none. Default: the right one. */
  signature?: string | undefined;
}

/** A request with the headers that GitHub sends. */
function send(source: DeployedSource, options: Delivery = {}): Promise<Response> {
  const { event = 'push', delivery = randomUUID(), body = push, contentType = 'application/json' } = options;
  const signature = 'signature' in options ? options.signature : sign(body);
  return fetch(source.endpoint, {
    method: 'POST',
    headers: {
      accept: '*/*',
      'content-type': contentType,
      'user-agent': 'GitHub-Hookshot/c0ffee1',
      'x-github-delivery': delivery,
      'x-github-event': event,
      'x-github-hook-id': '451920337',
      'x-github-hook-installation-target-id': '732190455',
      'x-github-hook-installation-target-type': 'repository',
      ...(signature === undefined ? {} : { 'x-hub-signature-256': signature }),
    },
    body,
  });
}

function sign(body: string, secret = SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

test('a signed push reaches the webhook of a subscriber with its payload, and once when it is redelivered', async () => {
  const source = await deploy();
  const webhook = await hw.api('POST', '/webhooks', { url: `${receiver.url}/pushes` });
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.data.id });
  const delivery = randomUUID();
  expect((await send(source, { delivery })).status).toBe(202);
  expect((await send(source, { delivery })).status).toBe(202);
  // Clients are answered before the commit: the next event comes after these only once they are
  // stored.
  await hw.untilIdle();
  const next = randomUUID();
  expect((await send(source, { delivery: next })).status).toBe(202);

  const events = await hw.untilEvents(source.id, 2);
  expect(events.map(({ metadata }) => metadata.id)).toEqual([delivery, next]);
  expect(events[0]?.metadata.summary).toBe('tomas-ibarra pushed 2 commits to main of upper-valley/lockkeeper');
  const [first] = await receiver.until(2);
  expect(JSON.parse(first?.body ?? '')).toEqual({ event: 'push', delivery, payload: JSON.parse(push) });
});

test('a request without the right signature is answered 401 and emits nothing', async () => {
  const source = await deploy();
  const wrong = [
    undefined,
    '',
    'sha256=',
    sign(push).replace('sha256=', 'sha1='),
    sign(push, 'another secret'),
    sign(`${push} `),
    sign(push).slice(0, -1),
    sign(push).toUpperCase(),
  ];
  for (const signature of wrong) {
    const { status } = await send(source, { signature });
    expect({ signature, status }).toEqual({ signature, status: 401 });
  }
  const good = randomUUID();
  await send(source, { delivery: good });
  const events = await hw.untilEvents(source.id, 1);
  expect(events.map(({ metadata }) => metadata.id)).toEqual([good]);
});

test('a ping is answered and emits nothing', async () => {
  const source = await deploy();
  const body = '{"zen":"Keep it logically awesome.","hook_id":451920337,"hook":{"type":"Repository","active":true}}';
  const answer = await send(source, { event: 'ping', body });
  expect([answer.status, await answer.json()]).toEqual([200, { message: 'pong: Keep it logically awesome.' }]);
  await hw.untilIdle();
  const { data } = await hw.api('GET', `/sources/${source.id}/event_summaries`);
  expect(data).toEqual([]);
});

test('the form content type of GitHub is read and verified as well', async () => {
  const source = await deploy();
  const body = new URLSearchParams({ payload: push }).toString();
  expect((await send(source, { body, contentType: 'application/x-www-form-urlencoded' })).status).toBe(202);
  const [event] = await hw.untilEvents(source.id, 1);
  expect(event?.event.payload).toEqual(JSON.parse(push));
});

test('with a channel per event type only subscribers of that channel hear it', async () => {
  const source = await deploy({ channelPerEvent: true });
  const webhook = await hw.api('POST', '/webhooks', { url: `${receiver.url}/issues-only` });
  const subscription = { emitter_id: source.id, listener_id: webhook.data.id, event_name: 'issues' };
  await hw.api('POST', '/subscriptions', subscription);
  await send(source);
  await hw.untilIdle();
  const issue = { action: 'opened', issue: { number: 12, title: 'Leak' }, repository: { full_name: 'a/b' } };
  await send(source, { event: 'issues', body: JSON.stringify(issue) });
  const events = await hw.untilEvents(source.id, 2);
  expect(events.map(({ metadata }) => [metadata.name, metadata.summary])).toEqual([
    ['push', 'tomas-ibarra pushed 2 commits to main of upper-valley/lockkeeper'],
    ['issues', 'Issue #12 opened in a/b: Leak'],
  ]);
  const received = () => receiver.requests.filter(({ url }) => url === '/issues-only');
  await eventually(() => received().length > 0);
  expect(received().map(({ body }) => JSON.parse(body).event)).toEqual(['issues']);
});

test('the secret is not shown by the API', async () => {
  const source = await deploy();
  const { text } = await hw.api('GET', `/sources/${source.id}`);
  expect(text).not.toContain(SECRET);
});
