// limits: A token endpoint that answers without end, slowly, or with values made to fill the database.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import {
  accountIdsOf,
  beginFlow,
  comeBack,
  type EvilProvider,
  json,
  newTokens,
  startEvilProvider,
} from '../../support/hostile-oauth.ts';

const world = hostile();
let endless: Server;
const providers: EvilProvider[] = [];
beforeAll(async () => {
  endless = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const part = Buffer.alloc(64 * 1024, ' ');
    const more = () => {
      while (!response.destroyed && response.write(part));
    };
    response.on('drain', more);
    more();
  });
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  for (const provider of providers) await provider.stop();
  endless.closeAllConnections();
  await new Promise((resolve) => endless.close(resolve));
});

async function flowAt(options: Parameters<typeof startEvilProvider>[1]) {
  const provider = await startEvilProvider(world, options);
  providers.push(provider);
  const { state } = await beginFlow(world.attacker, provider.slug);
  return comeBack(world, { state, code: 'a-code' });
}

it('the answer is cut off at 256 KB', async () => {
  const { port } = endless.address() as AddressInfo;
  const ended = await world.unharmed(() => flowAt({ oauth: { token_url: `http://127.0.0.1:${port}/token` } }));
  expect([ended.status, ended.text]).toEqual([400, expect.stringContaining('larger than')]);
});

it('tokens and values that are too long are none', async () => {
  await world.unharmed(async () => {
    const long = await flowAt({ token: () => json({ ...newTokens(), access_token: 'x'.repeat(100_000) }) });
    expect(long.status).toBe(400);
    const header = await flowAt({ token: () => json({ ...newTokens(), access_token: 'x\r\nhost: evil' }) });
    expect(header.status).toBe(400);
    const values = { oauth_uid: 'userinfo.sub', plan: 'userinfo.plan', proto: 'userinfo.__proto__.polluted' };
    const userinfo = () => ({
      ...json({}),
      body: '{"sub":"ok","plan":"' + 'x'.repeat(200_000) + '","__proto__":{"polluted":{"a":1}}}',
    });
    const wide = await flowAt({ oauth: { values }, userinfo });
    expect(wide.status).toBe(200);
    const [id = ''] = await accountIdsOf(world.attacker);
    const { credentials } = (await world.attacker.api('GET', `/accounts/${id}?include_credentials=1`)).body.data;
    expect(Object.keys(credentials).toSorted()).toEqual([
      'oauth_access_token',
      'oauth_client_id',
      'oauth_refresh_token',
      'oauth_uid',
    ]);
  });
});
