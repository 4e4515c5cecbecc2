// secrets: A step that returns megabytes of one letter, which fit the end of a secret's beginning at every place.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is looked through without holding up the neighbour, and answered as it is', async () => {
  const { attacker } = world;
  await attacker.api('PUT', '/environment_variables/LETTERS', { value: 'xyzwaa-secret-0' });
  const action = `export default { name: 'Letters', version: '1', type: 'action', props: { key: { type: 'string' } },
    async run() { return 'a'.repeat(6_000_000) + this.key.slice(0, 0); } };`;
  const steps = [{ namespace: 'letters', component_code: action, props: { key: '{{env.LETTERS}}' } }];
  const { id } = (await attacker.api('POST', '/workflows', { name: 'Letters', steps })).body.data as { id: string };
  await world.unharmed(async () => {
    const ran = (await attacker.api('POST', `/workflows/${id}/run`, {})).body.data as { execution_id: string };
    const path = `/executions/${ran.execution_id}?expand=exports`;
    const shown = await eventually(async () => {
      const { body } = await attacker.api('GET', path);
      return body.data?.status === 'succeeded' && body.data;
    });
    expect(shown.steps.letters.$return_value === 'a'.repeat(6_000_000)).toBe(true);
  });
});
