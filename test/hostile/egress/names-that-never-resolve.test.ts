// egress: Names whose server never answers, more of them than the process has threads to ask with.
import { expect, it } from 'vitest';
import { createHostResolver } from '../../../engine/src/egress/resolve-host.ts';
import type { Resolver } from '../../../engine/src/egress/guard.ts';
import { guarded } from '../../support/hostile-egress.ts';
import { nameServer } from '../../support/hostile-dns.ts';

const dns = nameServer((name) => (name.startsWith('slow') ? 'silent' : { address: '127.0.0.1' }));
let asking: Resolver | undefined;
const resolver: Resolver = (name, done) => (asking ??= createHostResolver({ servers: [dns.address()] }))(name, done);
const guard = guarded({ resolver, limits: { fetchTimeoutMs: 1_000 } });

it('hold up nobody else’s names', async () => {
  const { port } = new URL(guard.receiver.url);
  const slow = guard.unharmed(() =>
    Promise.all(Array.from({ length: 40 }, (_, i) => guard.fetch(`http://slow-${i}.test:${port}/`))),
  );
  await expect.poll(dns.questions).toBeGreaterThanOrEqual(80);
  expect(await guard.fetch(`http://quick.test:${port}/`)).toMatchObject({ ok: true, status: 200 });
  for (const outcome of await slow) expect(outcome).toMatchObject({ ok: false, limit: { name: 'fetchTimeoutMs' } });
});
