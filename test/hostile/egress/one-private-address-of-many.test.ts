// egress: A name with many addresses, of which one is private, for a connection that takes whichever answers first.
import { expect, it } from 'vitest';
import { guarded, NOT_PUBLIC } from '../../support/hostile-egress.ts';

const MANY = Array.from({ length: 200 }, (_, i) => `93.184.1.${i}`);
const guard = guarded({ closed: true, resolve: (name) => MANY.toSpliced(Number.parseInt(name, 10), 0, '10.0.0.1') });

it.each([0, 7, 8, 100, 200])('is refused whole with the private one in place %i', async (place) => {
  const outcome = await guard.unharmed(() => guard.fetch(`http://${place}.test/`));
  expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(NOT_PUBLIC) });
  expect(guard.connected()).toEqual([]);
});
