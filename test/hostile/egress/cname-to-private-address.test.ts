// egress: A public name that is an alias (CNAME) of one with a private address.
import { expect, it } from 'vitest';
import { createHostResolver } from '../../../engine/src/egress/resolve-host.ts';
import type { Resolver } from '../../../engine/src/egress/guard.ts';
import { guarded, NOT_PUBLIC } from '../../support/hostile-egress.ts';
import { nameServer } from '../../support/hostile-dns.ts';

const dns = nameServer((name) =>
  name === 'alias.test'
    ? { alias: 'inside.test', address: '10.0.0.7' }
    : { alias: 'outside.test', address: '93.184.1.1' },
);
let asking: Resolver | undefined;
const resolver: Resolver = (name, done) => (asking ??= createHostResolver({ servers: [dns.address()] }))(name, done);
const guard = guarded({ closed: true, resolver });

it('is judged by where the alias ends', async () => {
  const outcome = await guard.unharmed(() => guard.fetch('http://alias.test:9999/'));
  expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(NOT_PUBLIC) });
  expect(guard.connected()).toEqual([]);
  await guard.unharmed(() => guard.fetch('http://public.test:9999/'));
  expect(guard.connected()).toEqual(['93.184.1.1:9999']);
});
