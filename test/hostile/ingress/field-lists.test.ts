// ingress: `include` and `exclude` of thousands of names, which were read again for each item of a list: half a second.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('a list of fields has a bound, in the query as in a body of megabytes', async () => {
  const { attacker } = world;
  const store = (await attacker.api('POST', '/data_stores', { name: 'Own' })).body.data.id as string;
  await world.unharmed(async () => {
    for (const name of ['include', 'exclude']) {
      const listed = await attacker.api('GET', `/data_stores?limit=100&${name}=${'a,'.repeat(7_000)}`);
      const changed = await attacker.api('PUT', `/data_stores/${store}`, { name: 'x', [name]: 'a,'.repeat(1_500_000) });
      for (const { status, body } of [listed, changed]) {
        expect([status, body.errors]).toEqual([
          400,
          [{ path: name, message: expect.stringMatching(/^is longer than/) }],
        ]);
      }
    }
  });
});
