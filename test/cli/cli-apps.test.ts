import { expect, test } from 'vitest';
import { cliWorld } from '../support/cli-world.ts';

const world = cliWorld();

const APP = { name_slug: 'acme', name: 'Acme', auth_type: 'keys', fields: [{ name: 'api_key', label: 'Key' }] };

test('apps are defined, listed, changed and deleted', async () => {
  const { user } = world;
  await world.write('acme.json', JSON.stringify(APP));
  expect(await user.json('apps', 'create', '-f', 'acme.json')).toMatchObject({ name_slug: 'acme', private: true });
  expect(await user.json('apps', 'list', '--private')).toMatchObject([{ name_slug: 'acme' }]);
  expect(await user.json('apps', 'ls', 'githu')).toMatchObject([{ name_slug: 'github', private: false }]);
  const table = await user.hw(['apps', 'ls', 'acme']);
  expect(table.stdout).toMatch(/acme\s+Acme\s+keys\s+yes/);
  // More than one page.
  expect((await user.json('apps', 'list')).length).toBeGreaterThan(60);

  await world.write('acme.json', JSON.stringify({ ...APP, name: 'Acme 2' }));
  expect(await user.json('apps', 'update', 'acme', '-f', 'acme.json')).toMatchObject({ name: 'Acme 2' });
  expect((await user.hw(['apps', 'update', 'other', '-f', 'acme.json'])).code).toBe(2);
  expect((await user.hw(['apps', 'create'])).code).toBe(2);
  expect((await user.hw(['apps', 'create', '-f', 'acme.json'])).stderr).toContain('You have an app acme already');
  expect(await user.json('apps', 'delete', 'acme', '-y')).toEqual({ name_slug: 'acme', deleted: true });
  expect((await user.hw(['apps', 'delete', 'acme', '-y'])).code).toBe(4);
});

test('OAuth clients are set, listed and deleted; a secret comes by standard input', async () => {
  const { user } = world;
  expect(await user.json('apps', 'clients')).toEqual([]);
  expect((await user.hw(['apps', 'set-client', 'github'])).code).toBe(2);
  const set = await user.hw(['apps', 'set-client', 'github', '--client-id', 'one'], { stdin: 'a-secret\n' });
  expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('The OAuth client of github is set.') });
  expect((await user.hw(['apps', 'clients'])).stdout).toMatch(/github\s+one\s+stored/);
  const refused = await user.hw(['apps', 'set-client', 'github', '--client-id', 'two', '--public']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('client_secret is required for this app') });
  expect((await user.hw(['apps', 'set-client', 'github', '--client-id', 'one'], { stdin: '' })).code).toBe(2);
  expect(await user.json('apps', 'delete-client', 'github', '-y')).toEqual({ app: 'github', deleted: true });
  expect((await user.hw(['apps', 'delete-client', 'github', '-y'])).code).toBe(4);
});

test('the operator sets the OAuth client of the instance; a key of an account may not', async () => {
  const { user } = world;
  const args = ['apps', 'set-client', 'github', '--client-id', 'shared', '--instance'];
  const options = { stdin: 'a-secret\n', env: { HEADWATER_API_KEY: `hw_${'a'.repeat(32)}` } };
  expect((await user.hw(args, { stdin: 'a-secret\n' })).code).toBe(3);
  const set = await user.hw(args, options);
  expect(set).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('The instance’s OAuth client of github is set.'),
  });
  // It is none of the account's own.
  expect(await user.json('apps', 'clients')).toEqual([]);
  const removed = await user.hw(['apps', 'delete-client', 'github', '--instance', '-y'], options);
  expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining('is deleted') });
});
