import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixedKeys } from '../../../engine/src/secrets/master-key.ts';
import { createSealer } from '../../../engine/src/secrets/seal.ts';
import { readSealedValues } from '../../../engine/src/secrets/read-sealed-values.sql.ts';
import { replaceSealedValues } from '../../../engine/src/secrets/replace-sealed-values.sql.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { CLIENT } from '../../support/test-certificates.ts';

let world: DeliveryWorld;
beforeAll(async () => {
  world = await createDeliveryWorld();
});
afterAll(() => world.stop());

test('sealed credentials of a webhook are rotated with the master key', async () => {
  const { sql } = world.database.db;
  const who = await world.account();
  const auth = { type: 'bearer', token: 'tok-6f1c' } as const;
  const { id } = await world.webhook(who, {
    url: 'https://shop.example.com/',
    auth,
    clientCertificate: CLIENT.cert,
    clientKey: CLIENT.key,
  });
  const found = await readSealedValues(sql, 'v9', undefined, 10);
  expect(found.map(({ kind }) => kind)).toEqual(['webhook', 'webhook-auth', 'webhook-client-key']);
  const next = createSealer(fixedKeys([{ id: 'next', key: randomBytes(32) }]));
  const replacements = found.map((value) => ({
    value,
    sealed: next.seal(who.accountId, world.sealer.open(who.accountId, value.sealed)),
  }));
  expect(await replaceSealedValues(sql, replacements)).toBe(3);
  const [row] = await sql<{ auth: string; key: string }[]>`
    select request_auth as auth, client_key as key from webhooks where id = ${id}`;
  expect(JSON.parse(next.open(who.accountId, row?.auth ?? ''))).toEqual(auth);
  expect(next.open(who.accountId, row?.key ?? '')).toBe(CLIENT.key);
});
