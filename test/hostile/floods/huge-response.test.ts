// limits: An answer of ten megabytes to the client of an endpoint.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('counts as output, and the run ends at its limit', async () => {
  await world.limit({ maxRunOutputBytes: 65_536 });
  const ran = await world.unharmed(() =>
    world.attack(
      `export default { name: 'x', version: '1', props: { http: '$.interface.http' }, async run() { await this.http.respond({ status: 200, body: 'x'.repeat(10e6) }) } };`,
    ),
  );
  expect(ran.error).toMatchObject({
    code: 'OUTPUT_LIMIT',
    limit: { name: 'maxRunOutputBytes', value: 65_536, used: 10_000_000 },
  });
});
