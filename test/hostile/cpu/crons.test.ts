import { describe, expect, it } from 'vitest';
import { action } from '../../support/executions.ts';
import { tryDeploy } from '../../support/hostile-tenant.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { hostile } from '../../support/hostile.ts';

// limits: A cron expression of all seconds of the hour that summer time skips: each year up to
// 3000 was tried second by second.
describe('cron-in-the-skipped-hour', () => {
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
});

// limits: Hundreds of cron expressions in one request, of the nearest weekdays that are a
// Saturday: every day of 50 years was tried.
describe('crons-that-never-match', () => {
  const world = hostile();

  const days = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}W`).join(',');
  /** More than may be named, and as many: it is looked for. */
  const CRONS = [`0 0 ${days(1, 31)} * +6`, `0 0 ${days(1, 5)} * +6`];
  const TRIGGERS = 50;
  const PROPS = 500;
  /** It was up to 4 seconds of the node's thread for a workflow, and up to 40 for a source. */
  const SOON_MS = 3_000;
  const MAX_TIMES_SLOWER = 10;

  it.each(CRONS)('%s is refused at once, as each timer of a workflow and of a source', async (cron) => {
    const { attacker } = world;
    const timeOfRefusals = async (wrong: string, reason: RegExp): Promise<number> => {
      const triggers = Array.from({ length: TRIGGERS }, () => ({ type: 'timer', cron: wrong }));
      const timer = JSON.stringify({ type: '$.interface.timer', default: { cron: wrong } });
      const props = Array.from({ length: PROPS }, (_, i) => `t${i}: TIMER`).join(', ');
      const code = `const TIMER = ${timer}; export default { name: 'T', version: '1', props: { ${props} }, run() {} };`;
      const beganMs = performance.now();
      const answers = [
        await attacker.api('POST', '/workflows', {
          name: 'Never',
          steps: [{ namespace: 'one', component_code: action('return 1;') }],
          triggers,
        }),
        await tryDeploy(attacker, code),
      ];
      expect(answers.map(({ status }) => status)).toEqual([400, 400]);
      for (const { text } of answers) expect(text).toMatch(reason);
      return performance.now() - beganMs;
    };
    await world.unharmed(async () => {
      const quietMs = await timeOfRefusals('61 * * * *', /cron/);
      const tookMs = await timeOfRefusals(cron, /never matches|more than 5 nearest weekdays/);
      expect(tookMs).toBeLessThan(SOON_MS + MAX_TIMES_SLOWER * quietMs);
    });
  });
});
