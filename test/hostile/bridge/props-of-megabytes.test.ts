// ingress: Configured props of megabytes, of great depth, and of types that no prop has.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are refused before anything of them is stored', async () => {
  const component_code = `export default { name: 'Props', version: '1', props: { text: 'string', any: 'any' }, run() {} };`;
  const deep = JSON.parse('['.repeat(100) + ']'.repeat(100)) as unknown;
  const given = [{ text: 'x'.repeat(1_000_000) }, { text: { $: 1 } }, { text: ['x'] }, { any: deep, text: 5 }];
  const statuses = await world.unharmed(() =>
    Promise.all(
      given.map(async (configured_props) => {
        const answer = await world.attacker.api('POST', '/sources', { component_code, configured_props });
        return answer.status;
      }),
    ),
  );
  expect(statuses).toEqual([400, 400, 400, 400]);
});
