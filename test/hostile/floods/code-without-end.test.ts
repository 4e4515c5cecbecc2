// database: Code of hundreds of kilobytes, each time another one, saved by itself, with sources and with steps, without end.
import { expect, it } from 'vitest';
import { action } from '../../support/executions.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const MAX_BYTES = 1_000_000;
let made = 0;
const filler = () => `'${++made} ${'x'.repeat(150_000)}'`;
const source = () => `export default { name: 'Large', version: '1', filler: ${filler()}, run() {} };`;

it('the account gets the bytes that it may have, the rest is refused by name and leaves nothing', async () => {
  const { attacker, sql } = world;
  await world.limit({ maxCodeBytes: MAX_BYTES });
  const answers = await world.unharmed(() =>
    Promise.all(
      Array.from({ length: 18 }, (_, n) => {
        if (n % 3 === 0) return attacker.api('POST', '/components', { component_code: source() });
        if (n % 3 === 1) return attacker.api('POST', '/sources', { component_code: source() });
        const steps = [{ namespace: 'one', component_code: action(`return ${filler()};`) }];
        return attacker.api('POST', '/workflows', { steps });
      }),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(answers.length / 2);
  for (const { status, body } of refused)
    expect({ status, limit: body.limit }).toMatchObject({
      status: 409,
      limit: { name: 'maxCodeBytes', value: MAX_BYTES },
    });
  const [stored] = await sql<{ bytes: number; unused: number }[]>`
    select sum(octet_length(code) + octet_length(bundle) + coalesce(octet_length(source_map), 0)
        + pg_column_size(configurable_props))::int as bytes,
      (count(*) filter (where of_step and not exists (select from emitters s where s.component_id = c.id) and not exists (
        select from deployments d where d.steps @> jsonb_build_array(jsonb_build_object('componentId', c.id))
      )))::int as unused
    from components c where account_id = ${attacker.id}`;
  expect(stored?.bytes).toBeGreaterThan(0);
  expect(stored?.bytes).toBeLessThanOrEqual(MAX_BYTES);
  expect(stored?.unused).toBe(0);
});
