// ingress: A source that is deleted while clients wait for its answers, so that they would keep their connections for ever.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const SLOW = `export default { name: 'Slow', version: '1', props: { http: { type: '$.interface.http', customResponse: true } },
  async run() { await new Promise((resolve) => setTimeout(resolve, 2_000)); this.http.respond({ status: 200 }); } };`;

it('each of them is told', async () => {
  const { attacker } = world;
  await world.limit({ maxRunsPerComponent: 1 });
  const statuses = await world.unharmed(async () => {
    const { id, endpoint } = await attacker.deploy(SLOW);
    const clients = Array.from({ length: 5 }, async () => (await fetch(endpoint, { method: 'POST' })).status);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await attacker.api('DELETE', `/sources/${id}`)).status).toBeLessThan(300);
    return Promise.all(clients);
  });
  // The one that runs may still answer.
  expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(4);
});
