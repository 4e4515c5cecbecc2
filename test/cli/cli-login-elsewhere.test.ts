import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliUser, createCliUser } from '../support/cli.ts';

let user: CliUser;
const ends: (() => unknown)[] = [];
beforeEach(async () => {
  user = await createCliUser();
  ends.push(() => user.remove());
});
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Takes every key, and keeps it. */
async function startKeyCollector(): Promise<{ url: string; keys: (string | undefined)[] }> {
  const keys: (string | undefined)[] = [];
  const server = createServer(({ headers }, response) => {
    keys.push(headers.authorization?.replace('Bearer ', ''));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data: { id: 'u_1', username: 'one', email: null, orgs: [], quotas: {} } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys };
}

async function savedProfiles(): Promise<unknown> {
  const text = await readFile(path.join(user.configDir, 'config.json'), 'utf8').catch(() => '{}');
  return (JSON.parse(text) as { profiles?: unknown }).profiles;
}

test('a login sends the key of the environment to the server of the environment alone', async () => {
  const [prod, other] = [await startKeyCollector(), await startKeyCollector()];
  const env = { HEADWATER_URL: prod.url, HEADWATER_API_KEY: 'hw_prod' };
  const elsewhere = ['login', '--url', other.url, '-p', 'other'];
  const refused = await user.hw(elsewhere, { env });
  expect([refused.code, refused.stderr]).toEqual([
    2,
    `error: No key was given\n  → HEADWATER_API_KEY is for HEADWATER_URL: write the key of ${other.url} to standard input\n`,
  ]);
  expect([other.keys, await savedProfiles()]).toEqual([[], undefined]);

  expect(await user.hw(elsewhere, { env, stdin: 'hw_other\n' })).toMatchObject({ code: 0 });
  expect(other.keys).toEqual(['hw_other']);
  expect(await savedProfiles()).toEqual({ other: { url: other.url, api_key: 'hw_other' } });
  // An option applies to the server of its command.
  expect(await user.hw([...elsewhere, '--api-key', 'hw_given'], { env })).toMatchObject({ code: 0 });
  expect(other.keys).toEqual(['hw_other', 'hw_given']);

  expect(await user.hw(['login', '--url', `${prod.url}/v1/`], { env })).toMatchObject({ code: 0 });
  expect(await user.hw(['login'], { env })).toMatchObject({ code: 0 });
  expect(prod.keys).toEqual(['hw_prod', 'hw_prod']);
  // Without a server in the environment, its key is for the server of the login.
  expect(await user.hw(elsewhere, { env: { HEADWATER_API_KEY: 'hw_any' } })).toMatchObject({ code: 0 });
  expect(other.keys.at(-1)).toBe('hw_any');
});

test('a profile that is named keeps its server beside that of the environment', async () => {
  const [prod, staging] = [await startKeyCollector(), await startKeyCollector()];
  const first = await user.hw(['login', '--url', staging.url, '-p', 'staging'], { stdin: 'hw_first' });
  expect(first.code).toBe(0);
  const env = { HEADWATER_URL: prod.url, HEADWATER_API_KEY: 'hw_prod' };
  expect(await user.hw(['login', '-p', 'staging'], { env, stdin: 'hw_second' })).toMatchObject({ code: 0 });
  expect([staging.keys, prod.keys]).toEqual([['hw_first', 'hw_second'], []]);
  expect(await savedProfiles()).toEqual({ staging: { url: staging.url, api_key: 'hw_second' } });
  // One that is not there yet is for the server of the environment, as is one that the environment
  // itself names.
  expect(await user.hw(['login', '-p', 'new'], { env })).toMatchObject({ code: 0 });
  expect(await user.hw(['login'], { env: { ...env, HEADWATER_PROFILE: 'staging' } })).toMatchObject({ code: 0 });
  expect(prod.keys).toEqual(['hw_prod', 'hw_prod']);
});
