import { createHmac, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type ReceivedRequest, type Receiver, startReceiver } from '../../support/receiver.ts';

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

const EMITTER = `export default { name: 'Emit', version: '1', run(event) { this.$emit(event); } };`;

async function webhookWith(settings: object = {}) {
  const { status, data, text } = await hw.api('POST', '/webhooks', { url: `${receiver.url}/hook`, ...settings });
  if (status !== 200) throw new Error(text);
  return data as { id: string; secret: string };
}

/** A source with the webhook as its listener. */
async function sourceFor(webhookId: string) {
  const source = await hw.deploy(EMITTER);
  await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhookId });
  return { ...source, emit: (event: unknown) => hw.api('POST', `/sources/${source.id}/run`, { event }) };
}

const deliveriesOf = async (id: string) => (await hw.api('GET', `/webhooks/${id}/deliveries`)).data;

function signature(secret: string, { headers, body }: ReceivedRequest): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.');
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

const signaturesOf = (request: ReceivedRequest) => String(request.headers['webhook-signature']).split(' ');
const ownSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`;

describe('the secret', () => {
  test('may be the own one, and signs', async () => {
    const secret = ownSecret(24);
    const webhook = await webhookWith({ secret });
    expect(webhook).toMatchObject({ secret, previous_until: null });
    expect((await hw.api('POST', `/webhooks/${webhook.id}/test`)).data.delivered).toBe(true);
    const [request] = await receiver.until(1);
    expect(signaturesOf(request as ReceivedRequest)).toEqual([signature(secret, request as ReceivedRequest)]);
  });

  test.each(['whsec_', 'secret', `whsec_${'a'.repeat(16)}`, ownSecret(65), `${ownSecret()}=`])(
    'is refused where it is none: %s',
    async (secret) => {
      const { status, text } = await hw.api('POST', '/webhooks', { url: receiver.url, secret });
      expect([status, text]).toEqual([400, expect.stringContaining('base64 of 24 to 64 bytes')]);
    },
  );

  test('is rotated: for the overlap both sign, the new one first', async () => {
    const webhook = await webhookWith();
    const rotated = (await hw.api('POST', `/webhooks/${webhook.id}/rotate_secret`, { overlap_hours: 2 })).data;
    expect(rotated.id).toBe(webhook.id);
    expect(rotated.secret).not.toBe(webhook.secret);
    expect(Math.abs(rotated.previous_until - Date.now() / 1_000 - 7_200)).toBeLessThan(120);
    const source = await sourceFor(webhook.id);
    await source.emit({ n: 1 });
    const [request] = await receiver.until(1);
    const both = [rotated.secret, webhook.secret].map((secret) => signature(secret, request as ReceivedRequest));
    expect(signaturesOf(request as ReceivedRequest)).toEqual(both);
    expect((await hw.api('GET', `/webhooks/${webhook.id}`)).data).toMatchObject({
      secret: rotated.secret,
      previous_until: rotated.previous_until,
    });
    // Once the overlap is over, the old one signs no more.
    await hw.sql`update webhooks set previous_secret_until = now() where id = ${webhook.id}`;
    await hw.api('POST', `/webhooks/${webhook.id}/test`);
    const [, later] = await receiver.until(2);
    expect(signaturesOf(later as ReceivedRequest)).toEqual([signature(rotated.secret, later as ReceivedRequest)]);
  });

  test('is rotated to an own one without an overlap', async () => {
    const webhook = await webhookWith();
    const secret = ownSecret(64);
    const { data } = await hw.api('POST', `/webhooks/${webhook.id}/rotate_secret`, { overlap_hours: 0, secret });
    expect(data).toEqual({ id: webhook.id, secret, public_key: null, previous_until: null });
  });
});

test('tests that their receiver keeps waiting hold up nothing else of the account', async () => {
  const webhook = await webhookWith();
  let answer: () => void = () => undefined;
  receiver.answer = { after: new Promise<void>((resolve) => (answer = resolve)) };
  const tests = Array.from({ length: 4 }, () => hw.api('POST', `/webhooks/${webhook.id}/test`));
  await receiver.until(4);
  expect((await hw.api('GET', '/users/me/webhooks')).status).toBe(200);
  answer();
  expect((await Promise.all(tests)).map(({ data }) => data.delivered)).toEqual([true, true, true, true]);
});

describe('own headers', () => {
  test('are sent, kept sealed, replaced as a whole, and left out of lists', async () => {
    const headers = { Authorization: 'Bearer 6f1c', 'x-team': 'orders', 'User-Agent': 'shop/1' };
    const lower = { authorization: 'Bearer 6f1c', 'x-team': 'orders', 'user-agent': 'shop/1' };
    const webhook = await webhookWith({ headers });
    expect((await hw.api('GET', `/webhooks/${webhook.id}`)).data.headers).toEqual(lower);
    const [row] = await hw.sql`select request_headers from webhooks where id = ${webhook.id}`;
    expect(row?.['request_headers']).not.toContain('6f1c');
    expect((await hw.api('GET', '/users/me/webhooks')).text).not.toContain('6f1c');
    await hw.api('POST', `/webhooks/${webhook.id}/test`);
    expect((await receiver.until(1))[0]?.headers).toMatchObject({ ...lower, 'content-type': 'application/json' });
    await hw.api('PUT', `/webhooks/${webhook.id}`, { headers: { 'content-type': 'text/plain' } });
    await hw.api('POST', `/webhooks/${webhook.id}/test`);
    const last = (await receiver.until(2))[1]?.headers;
    expect(last).toMatchObject({ 'content-type': 'text/plain', 'user-agent': expect.stringMatching(/^Headwater/i) });
    expect(last).not.toHaveProperty('authorization');
  });

  test.each<[headers: Record<string, string>, says: RegExp]>([
    [{ host: 'a' }, /headers\.host is a header that Headwater sets itself/],
    [{ 'Webhook-Id': 'a' }, /headers\.Webhook-Id is a header that Headwater sets/],
    [{ 'headwater-test': 'a' }, /sets itself/],
    [{ 'transfer-encoding': 'chunked' }, /sets itself/],
    [{ 'a b': 'c' }, /headers\.a b is not the name of a header/],
    [{ a: 'b\r\nc: d' }, /headers\.a must have a value of printable ASCII/],
    [{ a: '' }, /headers\.a must have a value/],
    [{ a: '1', A: '2' }, /headers\.A is given twice/],
    [{ a: 'x'.repeat(8_192) }, /at most 8192 bytes together/],
    [Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`h${n}`, 'v'])), /at most 32 headers/],
  ])('are refused where they cannot be sent: %j', async (headers, says) => {
    const { status, text } = await hw.api('POST', '/webhooks', { url: receiver.url, headers });
    expect([status, text]).toEqual([400, expect.stringMatching(says)]);
  });
});

describe('schedule and timeout', () => {
  test('set on the webhook win over those of the server', async () => {
    receiver.answer = { status: 500 };
    const webhook = await webhookWith({ retry_schedule_seconds: [0, 0] });
    await (await sourceFor(webhook.id)).emit({ n: 1 });
    const [delivery] = await eventually(async () => {
      const list = await deliveriesOf(webhook.id);
      return list[0]?.status === 'failed' && list;
    });
    expect(delivery.attempts).toHaveLength(3);
    const changed = await hw.api('PUT', `/webhooks/${webhook.id}`, {
      retry_schedule_seconds: null,
      timeout_seconds: 1,
    });
    expect(changed.data).toMatchObject({ retry_schedule_seconds: null, timeout_seconds: 1 });
    receiver.answer = { delayMs: 5_000 };
    const { data } = await hw.api('POST', `/webhooks/${webhook.id}/test`);
    expect(data).toMatchObject({ delivered: false, attempt: { status_code: null, error: 'No answer within 1000 ms' } });
  });

  test.each<[settings: object, says: RegExp]>([
    [{ timeout_seconds: 0 }, /timeout_seconds must be a whole number from 1 to 30/],
    [{ timeout_seconds: 31 }, /timeout_seconds must be a whole number from 1 to 30/],
    [{ retry_schedule_seconds: [5, -1] }, /retry_schedule_seconds must be a whole number from 0 to 604800/],
    [{ retry_schedule_seconds: [604_801] }, /from 0 to 604800/],
    [{ retry_schedule_seconds: Array.from({ length: 21 }, () => 1) }, /at most 20 waits/],
    [{ retry_schedule: [1] }, /retry_schedule.*did you mean retry_schedule_seconds/],
  ])('are refused where they make no sense: %j', async (settings, says) => {
    const { status, text } = await hw.api('POST', '/webhooks', { url: receiver.url, ...settings });
    expect([status, text]).toEqual([400, expect.stringMatching(says)]);
  });
});

describe('retry now', () => {
  test('makes waiting deliveries due: those named, or all', async () => {
    receiver.answer = { status: 503 };
    const webhook = await webhookWith({ retry_schedule_seconds: [3_600, 3_600] });
    const source = await sourceFor(webhook.id);
    for (let n = 0; n < 3; n++) await source.emit({ n });
    const waiting = await eventually(async () => {
      const list: { id: string; attempts: unknown[] }[] = await deliveriesOf(webhook.id);
      return list.length === 3 && list.every(({ attempts }) => attempts.length === 1) && list;
    });
    receiver.answer = { status: 200 };
    const first = waiting[0]?.id;
    expect((await hw.api('POST', `/webhooks/${webhook.id}/retry`, { ids: [first] })).data).toEqual({ count: 1 });
    await eventually(async () => {
      const list: { id: string; status: string }[] = await deliveriesOf(webhook.id);
      return (
        list
          .filter(({ status }) => status === 'delivered')
          .map(({ id }) => id)
          .join() === first
      );
    });
    expect((await hw.api('POST', `/webhooks/${webhook.id}/retry`)).data).toEqual({ count: 2 });
    await eventually(async () =>
      (await deliveriesOf(webhook.id)).every((one: { status: string }) => one.status === 'delivered'),
    );
    expect((await hw.api('POST', `/webhooks/${webhook.id}/retry`)).data).toEqual({ count: 0 });
  });

  test('takes due deliveries that wait for their turn, before the rest', async () => {
    receiver.answer = { status: 503 };
    const webhook = await webhookWith({ retry_schedule_seconds: [3_600] });
    const source = await sourceFor(webhook.id);
    for (let n = 0; n < 3; n++) await source.emit({ n });
    await eventually(async () => {
      const list: { attempts: unknown[] }[] = await deliveriesOf(webhook.id);
      return list.length === 3 && list.every(({ attempts }) => attempts.length === 1);
    });
    // As the pace of failures leaves them: due, and without a job.
    await hw.sql`
      update deliveries set next_attempt_at = now() - interval '5 seconds'
      where webhook_id = ${webhook.id} and status = 'pending' and leased_by is null`;
    receiver.answer = { status: 200 };
    const before = receiver.requests.length;
    expect((await hw.api('POST', `/webhooks/${webhook.id}/retry`)).data).toEqual({ count: 3 });
    await eventually(async () =>
      (await deliveriesOf(webhook.id)).every((one: { status: string }) => one.status === 'delivered'),
    );
    expect(receiver.requests.length - before).toBe(3);
    const list: { attempts: { trigger: string }[] }[] = await deliveriesOf(webhook.id);
    expect(list.map(({ attempts }) => attempts.at(-1)?.trigger)).toEqual(['manual', 'manual', 'manual']);
  });

  test('is a conflict where the webhook is stopped', async () => {
    const webhook = await webhookWith();
    await hw.api('PUT', `/webhooks/${webhook.id}`, { active: false });
    expect((await hw.api('POST', `/webhooks/${webhook.id}/retry`)).status).toBe(409);
  });
});

describe('a test', () => {
  test('sends a sample, given data, or a stored event, and stores nothing', async () => {
    const webhook = await webhookWith();
    const sample = (await hw.api('POST', `/webhooks/${webhook.id}/test`)).data;
    expect(sample).toMatchObject({ delivered: true, attempt: { status_code: 200, error: null } });
    await hw.api('POST', `/webhooks/${webhook.id}/test`, { event: { order: 7 } });
    const source = await hw.deploy(EMITTER);
    await hw.api('POST', `/sources/${source.id}/run`, { event: { stored: true } });
    const [stored] = await hw.untilEvents(source.id, 1);
    await hw.api('POST', `/webhooks/${webhook.id}/test`, { event_id: stored?.id });
    const requests = await receiver.until(3);
    expect(requests.map(({ body }) => JSON.parse(body))).toEqual([
      expect.objectContaining({ test: true, webhook_id: webhook.id }),
      { order: 7 },
      { stored: true },
    ]);
    expect(requests.map(({ headers }) => headers['headwater-test'])).toEqual(['true', 'true', 'true']);
    expect(requests[0]?.headers['webhook-id']).toBe(sample.message_id);
    expect(requests[2]?.headers['headwater-emitter-id']).toBe(source.id);
    expect(await deliveriesOf(webhook.id)).toEqual([]);
  });

  test('shows the outcome if the receiver refuses, or cannot be reached', async () => {
    receiver.answer = { status: 410, body: 'gone' };
    const webhook = await webhookWith();
    expect((await hw.api('POST', `/webhooks/${webhook.id}/test`)).data).toMatchObject({
      delivered: false,
      attempt: { status_code: 410, response: 'gone' },
    });
    await hw.api('PUT', `/webhooks/${webhook.id}`, { url: 'http://127.0.0.1:99/', active: false });
    const { status, data } = await hw.api('POST', `/webhooks/${webhook.id}/test`);
    expect([status, data.delivered, data.attempt.status_code]).toEqual([200, false, null]);
    expect(data.attempt.error).not.toBe('');
  });

  test('finds no event of another account, and refuses contradictions', async () => {
    const { id } = await webhookWith();
    expect((await hw.api('POST', `/webhooks/${id}/test`, { event_id: '1606511826306-0' })).status).toBe(404);
    expect((await hw.api('POST', `/webhooks/${id}/test`, { event_id: 'nonsense' })).status).toBe(404);
    expect((await hw.api('POST', `/webhooks/${id}/test`, { event: 1, event_id: '1-0' })).status).toBe(400);
    const { api_key: other } = (await hw.admin('POST', '/accounts', { name: 'Other' })).data;
    for (const action of ['test', 'retry', 'rotate_secret'])
      expect((await hw.as(other)('POST', `/webhooks/${id}/${action}`)).status).toBe(404);
  });
});
