// bridge: A length of characters that is always none, so that the isolate counts three bytes as one: events, keys, values and results.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();
const PATCH = `Object.getPrototypeOf('').charCodeAt = () => 0;`;
const LARGE = `'中'.repeat(400_000)`;

it.each([
  [`this.$emit(${LARGE})`, 'maxEventBytes'],
  [`this.db.set('中'.repeat(1_000), 1)`, 'maxDbKeyBytes'],
  [`this.db.set('a', ${LARGE})`, 'maxDbValueBytes'],
])('%s ends at %s', async (body, name) => {
  await world.limit({ maxEventBytes: 1_000_000, maxDbValueBytes: 1_000_000 });
  const ran = await world.unharmed(() => world.attack(`${PATCH} ${body}`));
  expect(ran.error).toMatchObject({ limit: { name } });
  expect(ran.error?.limit?.used).toBeGreaterThan(ran.error?.limit?.value ?? 0);
  expect(ran.events).toEqual([]);
});

it.each([
  [`return ${LARGE};`, 'maxResultBytes'],
  [`$.export('a', ${LARGE});`, 'maxExportBytes'],
])('a step: %s ends at %s', async (body, name) => {
  await world.limit({ maxResultBytes: 1_000_000, maxExportBytes: 1_000_000 });
  const error = await world.unharmed(async () => {
    const flow = await makeWorkflow(world.attacker, { steps: [`${PATCH} ${body}`] });
    const started = await world.attacker.api('POST', `/workflows/${flow.id}/run`, {});
    return eventually(async () => {
      const { body: shown } = await world.attacker.api('GET', `/executions/${started.body.data.execution_id}`);
      return shown.data?.status === 'failed' && shown.data.error;
    });
  });
  expect(error).toMatchObject({ limit: { name } });
});
