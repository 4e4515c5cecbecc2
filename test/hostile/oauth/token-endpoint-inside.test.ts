// egress: Token and user endpoints at private addresses and metadata services, at once and by a redirect that would take the secret along.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';
import {
  beginFlow,
  comeBack,
  type EvilProvider,
  newTokens,
  json,
  startEvilProvider,
} from '../../support/hostile-oauth.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

const world = hostile();
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
