import { expect, test } from 'vitest';
import { cliWorld } from '../support/cli-world.ts';

const world = cliWorld();

test('keys are made with scopes and an end, listed without themselves, and revoked', async () => {
  const made = await world.user.json('keys', 'create', 'shop', '--scope', 'publish', '--expires', '2100-01-01');
  expect(made).toMatchObject({ name: 'shop', scopes: ['publish'], expires_at: Date.UTC(2100, 0, 1) / 1000 });
  const refused = await world.user.hw(['whoami', '--api-key', made.api_key]);
  expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining('needs full or read')]);

  const table = await world.user.hw(['keys', 'list']);
  expect(table.stdout).toMatch(/shop\s+key_\w+\s+…\w{4}\s+publish\s+active\s+/);
  expect(table.stdout).not.toContain(made.api_key);
  expect(await world.user.json('keys', 'revoke', made.id, '-y')).toEqual({ id: made.id, revoked: true });
  expect((await world.user.hw(['keys', 'list'])).stdout).toMatch(/shop\s+key_\w+\s+…\w{4}\s+publish\s+revoked/);
  const wrong = await world.user.hw(['keys', 'create', 'x', '--scope', 'everything']);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('full, read, publish, webhooks, deploy')]);
});

test('a portal link is that of the own account, where none is named', async () => {
  const link = await world.user.json('portal-link', '--minutes', '5');
  expect(link).toMatchObject({
    url: expect.stringContaining('/portal#key=hw_'),
    key_id: expect.stringMatching(/^key_/),
  });
  expect((await world.user.hw(['keys', 'list'])).stdout).toContain(link.key_id);
  const foreign = await world.user.hw(['portal-link', '--account', 'o_0VcFUEypCM6JoTrv7FHg']);
  expect(foreign).toMatchObject({ code: 4, stdout: '' });
});

test('members are invited, listed, changed and removed', async () => {
  const email = `ada.${process.pid}.${Date.now()}@example.com`;
  const invited = await world.user.json('members', 'invite', email, '--role', 'viewer');
  expect(invited).toMatchObject({
    email,
    role: 'viewer',
    link: expect.stringContaining('/invitation#token=hw_invite_'),
  });
  expect((await world.user.hw(['invitations', 'list'])).stdout).toContain(email);
  const { hash, origin } = new URL(invited.link);
  const token = new URLSearchParams(hash.slice(1)).get('token');
  const accepted = await fetch(`${origin}/v1/session/invitation/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, name: 'Ada', password: 'correct horse battery' }),
  });
  expect(accepted.status).toBe(200);
  expect(await world.user.json('members', 'role', email, 'developer')).toMatchObject({ email, role: 'developer' });
  expect((await world.user.hw(['members', 'list'])).stdout).toMatch(new RegExp(`${email}\\s+Ada\\s+developer\\s+u_`));
  expect(await world.user.json('members', 'remove', email, '-y')).toMatchObject({ removed: true });
  const gone = await world.user.hw(['members', 'remove', email, '-y']);
  expect([gone.code === 0, gone.stderr]).toEqual([false, expect.stringContaining('No member')]);
  const other = await world.user.json('members', 'invite', `x.${email}`);
  expect(await world.user.json('invitations', 'revoke', other.id)).toEqual({ id: other.id, revoked: true });
  expect(await world.user.json('invitations', 'list')).toEqual([]);
});
