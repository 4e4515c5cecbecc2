import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type ShownSend, startSends } from '../../support/hostile-sends.ts';
import { type MailServer, startMailServer } from '../../support/mail-server.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { ADMIN_KEY, killNode, startServer, type TestServer } from '../../support/server.ts';

let database: TestDatabase;
let mails: MailServer;
let receiver: Receiver;
const servers: TestServer[] = [];

beforeEach(async () => {
  [database, mails, receiver] = [await createTestDatabase(), await startMailServer(), await startReceiver()];
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  await Promise.all([mails.stop(), receiver.stop()]);
  await database.drop();
});

async function start(env: Record<string, string> = {}): Promise<TestServer> {
  const server = await startServer({ databaseUrl: database.url, env });
  servers.push(server);
  return server;
}

/** Its minute may have come while the others were delivered. */
function attemptedBeforeItsMinute({ created_at: createdAt, attempts }: ShownSend) {
  const nextMinuteMs = Math.ceil(createdAt / 60) * 60_000;
  return attempts.filter(({ at }) => Date.parse(at) < nextMinuteMs);
}

async function untilSent(server: TestServer, executionId: string, count: number): Promise<ShownSend[]> {
  return eventually(
    async () => {
      const { body } = await server.api('GET', `/executions/${executionId}/sends`);
      const sends = (body?.data ?? []) as ShownSend[];
      return (
        sends.length === count && sends.every(({ status, kind }) => status === 'delivered' || kind === 's3') && sends
      );
    },
    { timeoutMs: 60_000, what: 'the deliveries' },
  );
}

test('a workflow sends a request and an e-mail, and its S3 lines wait for their minute', async () => {
  const env = { HEADWATER_SMTP_URL: mails.url, HEADWATER_MAIL_FROM: 'Headwater <a@headwater.example>' };
  const server = await start(env);
  const me = await server.api('GET', '/users/me');
  const accountPath = `/accounts/${me.body.data.orgs[0].id}`;
  const set = await server.api('PUT', accountPath, { email: 'ada@example.com' }, ADMIN_KEY);
  expect(set.body.data).toMatchObject({ email: 'ada@example.com' });
  expect((await server.api('PUT', accountPath, { email: 'eve@example.com' })).status).toBe(403);
  expect((await server.api('GET', '/users/me')).body.data.email).toBe('ada@example.com');
  const executionId = await startSends(server, [
    ['http', { url: `${receiver.url}/in`, data: { n: 1 } }],
    ['email', { subject: 'It ran', text: 'Once.' }],
    ['s3', { bucket: 'lines', payload: { n: 1 } }],
  ]);
  const sends = await untilSent(server, executionId, 3);
  expect(sends.map(({ kind }) => kind)).toEqual(['s3', 'email', 'http']);
  expect(sends[0]).toMatchObject({ payload: { bucket: 'lines', payload: { n: 1 } } });
  expect(sends.slice(0, 1).flatMap(attemptedBeforeItsMinute)).toEqual([]);
  expect(sends[2]).toMatchObject({
    payload: { url: `${receiver.url}/in`, data: { n: 1 } },
    attempts: [{ status_code: 200 }],
  });
  expect(receiver.requests).toMatchObject([{ method: 'POST', url: '/in', body: '{"n":1}' }]);
  expect(mails.mails).toMatchObject([{ to: ['ada@example.com'], text: expect.stringContaining('Once.') }]);
  expect(server.process.output()).not.toContain('mail-password');
});

// A dead node is found out after some ten seconds.
test('a node that is killed in the middle of an attempt loses nothing: another sends it', {
  timeout: 120_000,
}, async () => {
  receiver.script({ delayMs: 60_000 });
  const first = await start();
  const executionId = await startSends(first, [['http', { url: receiver.url, data: { n: 1 } }]]);
  await receiver.until(1);
  await killNode(first, database.db.sql);
  const second = await start();
  await untilSent(second, executionId, 1);
  expect(receiver.requests.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":1}']);
});
