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
