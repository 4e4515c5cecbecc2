import { afterEach, expect, test } from 'vitest';
import { createHmac } from 'node:crypto';
import { cliWorld } from '../support/cli-world.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const world = cliWorld();
const receivers: Receiver[] = [];

afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
});

async function localServer(): Promise<Receiver> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return receiver;
}

const publish = (data: unknown) => world.hw.api('POST', '/events', { event_name: 'order.paid', data });
const webhookOf = (text: string) => text.match(/wh_[0-9A-Za-z]{20}/)?.[0] ?? '';
const webhookStatus = async (id: string) => (await world.hw.api('GET', `/webhooks/${id}`)).status;
const attemptsOf = async (id: string) =>
  (await world.hw.api('GET', `/webhooks/${id}/deliveries`)).data.map(
    (one: { attempts: { status_code: number | null; error: string | null }[] }) => one.attempts[0],
  );

test('deliveries go to the server on this machine, signed, and its answers come back', async () => {
  const local = await localServer();
  local.script({ status: 201, body: 'made' }, { status: 500, body: 'ouch' });
  const cli = world.user.start(['listen', '--forward', `${local.url}/hooks?from=hw`]);
  const [, secret = ''] = await cli.untilOutput(/(whsec_\S+)/);
  const id = webhookOf(cli.stdout());
  await publish({ n: 1 });
  const [request] = await local.until(1);
  expect([request?.url, request?.body]).toEqual(['/hooks?from=hw', '{"n":1}']);
  const signed = [request?.headers['webhook-id'], request?.headers['webhook-timestamp'], request?.body].join('.');
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(signed).digest('base64');
  expect(request?.headers['webhook-signature']).toBe(`v1,${signature}`);
  await publish({ n: 2 });
  await eventually(async () => {
    const attempts = await attemptsOf(id);
    return attempts.length === 2 && attempts.every((one: object | undefined) => one !== undefined);
  });
  const statuses = (await attemptsOf(id)).map((one: { status_code: number }) => one.status_code);
  expect(statuses.toSorted()).toEqual([201, 500]);
  const ended = await cli.end();
  expect(ended.code).toBe(130);
  expect(ended.stdout).toContain('order.paid\t{"n":1}');
  expect(await webhookStatus(id)).toBe(404);
});

test('a server that is not there is told as the attempt, and without --forward each is answered', async () => {
  const gone = await localServer();
  await gone.stop();
  const refused = world.user.start(['listen', '--forward', gone.url]);
  await refused.untilOutput(/whsec_/);
  const shown = world.user.start(['listen', '--json']);
  await shown.untilOutput(/whsec_/);
  const ids = [webhookOf(refused.stdout()), webhookOf(shown.stdout())] as const;
  await publish({ n: 3 });
  await shown.untilOutput(/"request"/);
  await eventually(async () => (await attemptsOf(ids[0]))[0]?.error?.includes('ECONNREFUSED'));
  await eventually(async () => (await attemptsOf(ids[1]))[0]?.status_code === 200);
  await Promise.all([refused.end(), shown.end()]);
  for (const id of ids) expect(await webhookStatus(id)).toBe(404);
});

test('a malformed address or emitter is refused, and nothing is left behind', async () => {
  const before = (await world.hw.api('GET', '/users/me/webhooks')).data.length;
  expect((await world.user.hw(['listen', '--forward', 'ftp://localhost'])).code).toBe(2);
  expect((await world.user.hw(['listen', '--emitter', 'nothing'])).code).toBe(4);
  expect((await world.hw.api('GET', '/users/me/webhooks')).data).toHaveLength(before);
});
