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
const SOON_MS = 5_000;

it.each(CRONS)('%s is refused at once, as each timer of a workflow and of a source', async (cron) => {
  const { attacker } = world;
  const triggers = Array.from({ length: TRIGGERS }, () => ({ type: 'timer', cron }));
  const timer = JSON.stringify({ type: '$.interface.timer', default: { cron } });
  const props = Array.from({ length: PROPS }, (_, i) => `t${i}: TIMER`).join(', ');
  const code = `const TIMER = ${timer}; export default { name: 'T', version: '1', props: { ${props} }, run() {} };`;
  await world.unharmed(async () => {
    const began = performance.now();
    const answers = [
      await attacker.api('POST', '/workflows', {
        name: 'Never',
        steps: [{ namespace: 'one', component_code: action('return 1;') }],
        triggers,
      }),
      await tryDeploy(attacker, code),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    for (const { text } of answers) expect(text).toMatch(/never matches|more than 5 nearest weekdays/);
    expect(performance.now() - began).toBeLessThan(SOON_MS);
  });
});
