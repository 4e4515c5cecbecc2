// limits: A provider that answers a check with a form of a hundred thousand parts, to keep the node's thread busy reading it.
import { randomToken } from '@headwater/shared';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { asOperator } from '../../support/hostile-oauth.ts';

const world = hostile();
const CHECKS_AT_ONCE = 4;
const ROUNDS = 12;
/** As many bytes as an answer may have; each of the parts is one that is no UTF-8. */
const FORM = Buffer.alloc(256 * 1024, Buffer.from([0xff, 0x26]));

let provider: Server;
let asked = 0;
beforeAll(async () => {
  provider = createServer((_, response) => {
    asked += 1;
    response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' }).end(FORM);
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});

it('is not read, and the neighbour is answered meanwhile', async () => {
  const { attacker, neighbour } = world;
  const slug = `forms-${randomToken(12).toLowerCase()}`;
  const { port } = provider.address() as AddressInfo;
  await asOperator(world, 'POST', '/apps', {
    name_slug: slug,
    name: 'Forms',
    auth_type: 'keys',
    fields: [{ name: 'api_key', label: 'Key' }],
    test: { url: `http://127.0.0.1:${port}/me`, auth: { type: 'bearer', token: '{{api_key}}' } },
  });
  const made = await attacker.api('POST', '/connected_accounts', { app: slug, credentials: { api_key: 'a-key-0123' } });
  const path = `/connected_accounts/${made.body.data.id as string}/check`;
  await world.unharmed(async () => {
    const before = asked;
    let isUnderWay = true;
    const watching = (async () => {
      while (isUnderWay) {
        expect((await neighbour.api('GET', '/users/me')).status).toBe(200);
      }
    })();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const checks = Array.from({ length: CHECKS_AT_ONCE }, () => attacker.api('POST', path));
        for (const { status, body } of await Promise.all(checks)) {
          // The status is all there is to go by.
          expect([status, body.data.check.detail]).toEqual([200, `127.0.0.1:${port} answered 200`]);
        }
      }
    } finally {
      isUnderWay = false;
      await watching;
    }
    expect(asked - before).toBe(ROUNDS * CHECKS_AT_ONCE);
  });
});
