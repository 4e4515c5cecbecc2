// egress: Loopback in octal, hexadecimal, as one number, with parts left out, and in wide digits.
import { expect, it } from 'vitest';
import { guarded, NOT_PUBLIC } from '../../support/hostile-egress.ts';

const guard = guarded({ closed: true });

it.each([
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0x0.0x0.0x1',
  '0x7f.1',
  '0177.0.0.1',
  '0177.0.0.01',
  '017700000001',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '１２７.０.０.１',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
])('%s is refused before anything is connected', async (host) => {
  const outcome = await guard.unharmed(() => guard.fetch(`http://${host}/`));
  expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(NOT_PUBLIC) });
  expect(guard.connected()).toEqual([]);
  expect(guard.lookups).toEqual([]);
});
