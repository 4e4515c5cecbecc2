// egress: A public name that resolves to a private address.
import { expect, it } from 'vitest';
import { guarded } from '../../support/hostile-egress.ts';

const PRIVATE = [
  '10.0.0.7',
  '127.0.0.1',
  '192.168.0.1',
  '0.0.0.0',
  '::1',
  'fd00::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
];
const guard = guarded({
  closed: true,
  resolve: (name) => (name === 'unknown.test' ? [] : [PRIVATE[Number(name[0])] ?? '']),
});

it('is refused in the words of a name that does not exist', async () => {
  const unknown = await guard.unharmed(() => guard.fetch('http://unknown.test/'));
  for (const [index] of PRIVATE.entries()) {
    const hidden = await guard.unharmed(() => guard.fetch(`http://${index}.test/`));
    expect(JSON.stringify(hidden).replace(`${index}.test`, 'unknown.test')).toBe(JSON.stringify(unknown));
  }
  expect(unknown).toMatchObject({ ok: false, message: expect.stringMatching(/^No public address was found/) });
  expect(guard.connected()).toEqual([]);
});
