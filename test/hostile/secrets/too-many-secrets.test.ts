// limits: Secret props of megabytes, each run of which would have to be searched for all of them.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const names = Array.from({ length: 40 }, (_, i) => `secret${i}`);

it('they are refused when they are set, with what is allowed', async () => {
  const ran = await world.unharmed(() =>
    world.attack(
      `export default { name: 'Many', version: '1', run() {},
        props: { ${names.map((name) => `${name}: { type: 'string', secret: true }`).join(', ')} } };`,
      { props: Object.fromEntries(names.map((name) => [name, name.repeat(6_000)])) },
    ),
  );
  expect(ran.refused).toMatchObject({
    status: 400,
    code: 'invalid-props',
    limit: { name: 'maxSecretPropsBytes', value: 65_536, used: expect.any(Number) },
  });
  expect(ran.refused?.detail).toMatch(
    /^configured_props: Secret props have \d{7} bytes together; at most 65536 are allowed$/,
  );
});
