import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawServer, response } from '../../support/hostile-egress.ts';
import {
  accountIdsOf,
  beginFlow,
  comeBack,
  type EvilProvider,
  json,
  newTokens,
  startEvilProvider,
} from '../../support/hostile-oauth.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

// limits: A token endpoint that answers without end, slowly, or with values made to fill the
// database.
describe('endless-token-answer', () => {
  const world = hostile({ ownAccounts: true });
  let endless: Server;
  const providers: EvilProvider[] = [];
  beforeAll(async () => {
    endless = createServer((_, answer) => {
      answer.writeHead(200, { 'content-type': 'application/json' });
      const part = Buffer.alloc(64 * 1024, ' ');
      const more = () => {
        while (!answer.destroyed && answer.write(part));
      };
      answer.on('drain', more);
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
});

// limits: Token and user endpoints whose scopes, lifetimes and words the database cannot hold.
describe('answers-that-cannot-be-stored', () => {
  const world = hostile({ ownAccounts: true });
  const providers: EvilProvider[] = [];
  afterAll(async () => {
    for (const provider of providers) await provider.stop();
  });

  const ANSWERS: [answer: object, scopes: string[]][] = [
    [{ scope: 'a b,c' }, ['a', 'b', 'c']],
    [{ scope: 'a\0b c' }, ['all']],
    [{ scope: 'a\ud800b c' }, ['all']],
    [{ scope: Array.from({ length: 30_000 }, (_, n) => `s${n}`).join(' ') }, ['all']],
    [{ scope: 'x'.repeat(200_000) }, ['all']],
    [{ expires_in: 1e300 }, ['all']],
    [{ expires_in: 1e12 }, ['all']],
    [{ expires_in: '1e-300' }, ['all']],
  ];

  it('are accounts with what was asked for, and the list of them is shown', async () => {
    const { attacker } = world;
    await world.unharmed(async () => {
      for (const [answer] of ANSWERS) {
        const provider = await startEvilProvider(world, { token: () => json({ ...newTokens(), ...answer }) });
        providers.push(provider);
        const { state } = await beginFlow(attacker, provider.slug);
        const ended = await comeBack(world, { state, code: 'a-code' });
        expect([answer, ended.status]).toEqual([answer, 200]);
      }
      const listed = await attacker.api('GET', `/connected_accounts?limit=${ANSWERS.length}`);
      expect(listed.status).toBe(200);
      const found = (listed.body.data as { scopes: string[] }[]).map(({ scopes }) => scopes);
      expect(found.toReversed()).toEqual(ANSWERS.map(([, scopes]) => scopes));
    });
  });

  it('and a user endpoint that says why not in such words is told with what can be shown of them', async () => {
    const { attacker } = world;
    let isGood = true;
    const userinfo = () => json(isGood ? { sub: 'someone' } : { ok: false, error: 'token_revoked \0 \ud800' });
    const provider = await startEvilProvider(world, { userinfo });
    providers.push(provider);
    const { state } = await beginFlow(attacker, provider.slug);
    expect((await comeBack(world, { state, code: 'a-code' })).status).toBe(200);
    isGood = false;
    const [newest] = (await attacker.api('GET', '/connected_accounts?limit=1')).body.data as { id: string }[];
    const checked = await attacker.api('POST', `/connected_accounts/${newest?.id}/check`, {});
    expect([checked.status, checked.text]).toEqual([200, expect.stringContaining('token_revoked')]);
    expect((await attacker.api('GET', `/connected_accounts/${newest?.id}`)).status).toBe(200);
  });
});

// egress: Token and user endpoints at private addresses and metadata services, at once and by a
// redirect that would take the secret along.
describe('token-endpoint-inside', () => {
  const world = hostile({ ownAccounts: true });
  let inside: Receiver;
  /** On all addresses of this machine. */
  const raw = rawServer((socket) => socket.end(response('content-length: 2\r\n', '{}')), '0.0.0.0');
  const providers: EvilProvider[] = [];
  beforeAll(async () => {
    inside = await startReceiver();
  });
  afterAll(async () => {
    for (const provider of providers) await provider.stop();
    await inside.stop();
  });

  async function flowAt(options: Parameters<typeof startEvilProvider>[1]) {
    const provider = await startEvilProvider(world, options);
    providers.push(provider);
    const { state } = await beginFlow(world.attacker, provider.slug);
    return { provider, ended: await comeBack(world, { state, code: 'a-code' }) };
  }

  it('the guard refuses the address, and the person is told in its words', async () => {
    await world.unharmed(async () => {
      for (const url of [
        'https://169.254.169.254/latest/meta-data',
        'https://10.0.0.1/token',
        'https://[fd00::1]/token',
        'https://0x0a000001/token',
        'https://metadata.internal/token',
      ]) {
        const { ended } = await flowAt({ oauth: { token_url: url } });
        expect([url, ended.status, ended.text]).toEqual([url, 400, expect.stringMatching(/public address/)]);
      }
      const { port } = new URL(world.server.databaseUrl);
      const database = await flowAt({ oauth: { token_url: `http://127.0.0.1:${port}/` } });
      expect(database.ended.text).toContain('is not reached');
    });
  });

  it('the guard refuses the address at which the user is asked for, and the account has no name', async () => {
    await world.unharmed(async () => {
      for (const url of [
        'https://169.254.169.254/latest/meta-data',
        'https://10.0.0.1/me',
        'https://metadata.internal/me',
      ]) {
        const { ended } = await flowAt({ token: () => json(newTokens()), oauth: { userinfo_url: url } });
        expect([url, ended.status]).toEqual([url, 200]);
      }
      const { ended } = await flowAt({
        token: () => json(newTokens()),
        oauth: { userinfo_url: `http://${PRIVATE_LOOPBACK}:${raw.port}/me` },
      });
      expect(ended.status).toBe(200);
    });
    expect(raw.connections()).toBe(0);
  });

  it('a redirect is the end of it', async () => {
    await world.unharmed(async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        const away = { status, headers: { location: `${inside.url}/latest` } };
        const token = await flowAt({ token: () => away });
        expect([status, token.ended.status, token.ended.text]).toEqual([
          status,
          400,
          expect.stringContaining('redirect'),
        ]);
        const userinfo = await flowAt({ token: () => json(newTokens()), userinfo: () => away });
        expect(userinfo.ended.status).toBe(200);
      }
    });
    expect(inside.requests).toEqual([]);
  });
});
