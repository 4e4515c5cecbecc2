// limits: Hundreds of cron expressions in one request, of the nearest weekdays that are a Saturday: every day of 50 years was tried.
import { expect, it } from 'vitest';
import { action } from '../../support/executions.ts';
import { hostile } from '../../support/hostile.ts';
import { tryDeploy } from '../../support/hostile-tenant.ts';

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
