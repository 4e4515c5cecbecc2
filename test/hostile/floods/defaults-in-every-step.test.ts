// limits: Workflows of a hundred steps in eight kilobytes: each step would have a megabyte of default values.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const MAX_BYTES = 8 * 1024 * 1024;
const LARGE = `const props = {};
for (let i = 0; i < 16; i++) props['p' + i] = { type: 'string', default: String.fromCharCode(97 + i).repeat(60_000) };
export default { name: 'Large', version: '1', type: 'action', props, run() {} };`;

it('are refused before they are put together, and nothing of them is kept', async () => {
  const { attacker, sql } = world;
  const { id } = (await attacker.api('POST', '/components', { component_code: LARGE })).body.data as { id: string };
  const steps = Array.from({ length: 100 }, (_, i) => ({ namespace: `s${i}`, component_id: id }));
  const small = await attacker.api('POST', '/workflows', { name: 'Small' });
  const path = `/workflows/${small.body.data.id}`;
  const answers = await world.unharmed(() =>
    Promise.all([
      ...Array.from({ length: 6 }, () => attacker.api('POST', '/workflows', { steps })),
      attacker.api('PUT', path, { steps }),
      attacker.api('POST', `${path}/test`, { steps }),
    ]),
  );
  for (const { status, body } of answers) {
    expect([status, body.limit]).toEqual([
      400,
      { name: 'maxWorkflowVersionBytes', value: MAX_BYTES, used: expect.any(Number) },
    ]);
    // It was not put together first.
    expect(body.limit.used).toBeLessThan(MAX_BYTES * 2);
  }
  expect(await sql`select from deployments where account_id = ${attacker.id}`).toHaveLength(1);
});
