// egress: A name with hundreds of public addresses, for one request to knock at all of them.
import { expect, it } from 'vitest';
import { guarded } from '../../support/hostile-egress.ts';

const MANY = Array.from({ length: 300 }, (_, i) => `93.184.${1 + Math.floor(i / 200)}.${i % 200}`);
const guard = guarded({ closed: true, resolve: () => MANY, limits: { fetchTimeoutMs: 3_000 } });

it('is tried at a few of them', async () => {
  // Nothing listens at port 9999 of what the proxy of the test leads to.
  const outcome = await guard.unharmed(() => guard.fetch('http://many.test:9999/'));
  expect(outcome).toMatchObject({ ok: false });
  expect(guard.connected()).toEqual(MANY.slice(0, 8).map((address) => `${address}:9999`));
});
