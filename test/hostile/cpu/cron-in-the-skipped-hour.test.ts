// limits: A cron expression of all seconds of the hour that summer time skips: each year up to 3000 was tried second by second.
import { expect, it } from 'vitest';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';
import { tryDeploy } from '../../support/hostile-tenant.ts';

const world = hostile();

const CRON = '* * 2 25-31 3 +7';
/** It was 40 seconds of the node's thread. */
const SOON_MS = 5_000;

it('is refused at once, given to a source or to a workflow, and the neighbour is served', async () => {
  const { attacker } = world;
  const timer = { cron: CRON, timezone: 'Europe/Paris' };
  const code = `export default { name: 'T', version: '1', props: { at: { type: '$.interface.timer' } }, run() {} };`;
  const flow = await makeWorkflow(attacker, { steps: ['return 1;'] });
  await world.unharmed(async () => {
    const began = performance.now();
    const answers = [
      await tryDeploy(attacker, code, { at: timer }),
      await attacker.api('PUT', `/workflows/${flow.id}`, { triggers: [{ type: 'timer', ...timer }] }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    for (const { text } of answers) expect(text).toContain('never matches');
    expect(performance.now() - began).toBeLessThan(SOON_MS);
  });
});
