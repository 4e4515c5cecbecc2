// limits: A cron expression of all seconds of the hour that summer time skips: each year up to 3000 was tried second by second.
import { expect, it } from 'vitest';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';
import { tryDeploy } from '../../support/hostile-tenant.ts';

const world = hostile();

const CRON = '* * 2 25-31 3 +7';
/** It was 40 seconds of the node's thread: a hundred times as long as a refusal takes at once. */
const MAX_TIMES_SLOWER = 10;
const SOON_MS = 3_000;

it('is refused at once, given to a source or to a workflow, and the neighbour is served', async () => {
  const { attacker } = world;
  const code = `export default { name: 'T', version: '1', props: { at: { type: '$.interface.timer' } }, run() {} };`;
  const flow = await makeWorkflow(attacker, { steps: ['return 1;'] });
  const timeOfRefusals = async (cron: string, reason: string): Promise<number> => {
    const timer = { cron, timezone: 'Europe/Paris' };
    const beganMs = performance.now();
    const answers = [
      await tryDeploy(attacker, code, { at: timer }),
      await attacker.api('PUT', `/workflows/${flow.id}`, { triggers: [{ type: 'timer', ...timer }] }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    for (const { text } of answers) expect(text).toContain(reason);
    return performance.now() - beganMs;
  };
  await world.unharmed(async () => {
    const quietMs = await timeOfRefusals('61 * * * *', 'cron');
    const tookMs = await timeOfRefusals(CRON, 'never matches');
    expect(tookMs).toBeLessThan(SOON_MS + MAX_TIMES_SLOWER * quietMs);
  });
});
