import { afterEach, beforeEach, expect, test } from 'vitest';
import { type MailServer, startMailServer } from '../../support/mail-server.ts';
import { createSendWorld, type SendWorld } from '../../support/send-world.ts';

let world: SendWorld;
let server: MailServer;
const mailOf = () => ({ smtpUrl: server.url, from: 'Headwater <no-reply@headwater.example>' });
const hello = { subject: 'Hello', text: 'It ran.' };

beforeEach(async () => {
  world = await createSendWorld();
  server = await startMailServer();
});
afterEach(async () => {
  await world.stop();
  await server.stop();
});

async function attempt(payload: unknown, options: Parameters<SendWorld['node']>[0] = {}) {
  const who = await world.account({ email: 'ada@example.com' });
  const [id = ''] = await world.send(who, 'email', [payload]);
  const { runner } = await world.node({ mail: mailOf(), ...options });
  await runner.runLane(who);
  return world.ended(id, 1);
}

test('an e-mail goes to the account’s own address, with subject, text and HTML', async () => {
  const row = await attempt({ subject: 'Größe ✓', text: 'plain', html: '<p>rich</p>', to: 'other@example.com' });
  expect(row).toMatchObject({ status: 'delivered', attempt_count: 1, leased_by: null });
  expect(server.mails).toMatchObject([{ from: 'no-reply@headwater.example', to: ['ada@example.com'] }]);
  const text = server.mails[0]?.text ?? '';
  expect(text).toContain(`Message-ID: <${row.id}@headwater>`);
  expect(text).toContain('From: Headwater <no-reply@headwater.example>');
  expect(text).toMatch(/^Auto-Submitted: auto-generated\r$/im);
  expect(text).toContain(`Subject: =?UTF-8?`);
  expect(text).toContain('plain');
  expect(text).toContain('<p>rich</p>');
  expect(text).not.toContain('other@example.com');
});

test('a mail server that refuses for now is asked again, with the same message id', async () => {
  server.refuse(451, 451);
  const who = await world.account({ email: 'ada@example.com' });
  const [id = ''] = await world.send(who, 'email', [hello]);
  await world.node({ mail: mailOf(), lanes: true, retry: { scheduleSeconds: [0.1, 0.1, 0.1] } });
  expect(await world.ended(id)).toMatchObject({ status: 'delivered', attempt_count: 3 });
  expect(server.mails).toHaveLength(1);
});

test('a refusal for good is the end of it, and tells the tenant the status alone', async () => {
  server.refuse(554);
  const row = await attempt(hello);
  expect(row).toMatchObject({ status: 'failed', attempts: [{ status_code: 554 }] });
  expect(JSON.stringify(row.attempts)).not.toContain('inside.example');
});

test('a mail server that is not there, or does not accept the login, is nothing that the tenant learns more of', async () => {
  const wrongLogin = server.url.replace('mail-password', 'other-password');
  const wrong = await attempt(hello, { mail: { ...mailOf(), smtpUrl: wrongLogin } });
  expect(wrong).toMatchObject({ status: 'pending', attempts: [{ status_code: 535 }] });
  const gone = await attempt(hello, { mail: { ...mailOf(), smtpUrl: 'smtp://127.0.0.1:1' } });
  expect(gone).toMatchObject({
    status: 'pending',
    attempts: [{ error: 'The mail server of this server could not be reached' }],
  });
  expect(JSON.stringify([wrong, gone])).not.toMatch(/password|127\.0\.0\.1/);
});

test('without a mail server it has failed, and names the setting for the operator', async () => {
  const who = await world.account({ email: 'ada@example.com' });
  const [id = ''] = await world.send(who, 'email', [hello]);
  const { runner } = await world.node();
  await runner.runLane(who);
  const row = await world.ended(id);
  expect(row.attempts[0]?.error).toMatch(/HEADWATER_SMTP_URL and HEADWATER_MAIL_FROM/);
});

test('without an address of the account it has failed, and names the setting for it', async () => {
  const who = await world.account();
  const [id = ''] = await world.send(who, 'email', [hello]);
  const { runner } = await world.node({ mail: mailOf() });
  await runner.runLane(who);
  expect((await world.ended(id)).attempts[0]?.error).toMatch(/no e-mail address/);
});

test.each([
  ['no subject', { text: 'a' }, 'subject must be a string'],
  ['a line break in the subject', { subject: 'a\r\nBcc: eve@example.com', text: 'a' }, 'line breaks'],
  ['a subject that is too long', { subject: 'a'.repeat(501), text: 'a' }, 'at most 500 characters'],
  ['neither text nor HTML', { subject: 'a' }, 'text or html must be given'],
  ['a file as text', { subject: 'a', text: { path: '/etc/passwd' } }, 'text must be a string'],
  ['a URL as HTML', { subject: 'a', html: { href: 'http://127.0.0.1/' } }, 'html must be a string'],
  ['too much', { subject: 'a', text: 'a'.repeat(1024 * 1024) }, 'larger than'],
  ['something that is no object', 'text', 'not an object'],
])('%s has failed at once, with a reason', async (_, payload, message) => {
  const row = await attempt(payload);
  expect(row).toMatchObject({ status: 'failed', attempts: [{ error: expect.stringContaining(message) }] });
  expect(server.mails).toEqual([]);
});

test('more than the account may send on a day have failed, each with the limit, and other accounts are not held up', async () => {
  const [who, other] = [
    await world.account({ email: 'ada@example.com' }),
    await world.account({ email: 'b@example.com' }),
  ];
  const ids = await world.send(
    who,
    'email',
    Array.from({ length: 8 }, () => hello),
  );
  const [id = ''] = await world.send(other, 'email', [hello]);
  const nodes = [await world.node({ id: 'node_a', mail: mailOf(), limits: { maxEmailsPerDay: 5 } })];
  await Promise.all(nodes.map(({ runner }) => runner.runLane(who)));
  await nodes[0]?.runner.runLane(other);
  const rows = await Promise.all(ids.map((one) => world.ended(one)));
  expect(rows.filter(({ status }) => status === 'delivered')).toHaveLength(5);
  const failed = rows.filter(({ status }) => status === 'failed');
  expect(failed.map(({ attempts }) => attempts[0]?.error)).toEqual(
    Array.from({ length: 3 }, () => 'The account has sent its e-mails of today: maxEmailsPerDay is 5'),
  );
  for (const { attempts } of failed) {
    expect(attempts[0]?.limit).toEqual({ name: 'maxEmailsPerDay', value: 5, used: 6 });
  }
  expect(await world.ended(id)).toMatchObject({ status: 'delivered' });
});

test('an attempt that the mail server did not take is not counted', async () => {
  server.refuse(451, 451, 451);
  const who = await world.account({ email: 'ada@example.com' });
  const [id = ''] = await world.send(who, 'email', [hello]);
  await world.node({
    mail: mailOf(),
    lanes: true,
    retry: { scheduleSeconds: [0.1, 0.1, 0.1] },
    limits: { maxEmailsPerDay: 1 },
  });
  expect(await world.ended(id)).toMatchObject({ status: 'delivered', attempt_count: 4 });
});
