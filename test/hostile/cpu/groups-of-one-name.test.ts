// limits: Expressions of a workflow with a regular expression of hundreds of groups of the same name, a thousand levels deep: ten minutes each.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { ECHO } from '../../support/workflow-steps.ts';

const world = hostile();

const DEPTH = 1_180;
const GROUPS = 357;

it('are refused at once', async () => {
  const groups = `${'('.repeat(DEPTH)}${Array(GROUPS).fill('(?<a>)').join('|')}${')'.repeat(DEPTH)}`;
  const props = { text: `{{/${groups}|${groups}/}}` };
  await world.unharmed(async () => {
    const { status, text } = await world.attacker.api('POST', '/workflows', {
      name: 'Groups',
      steps: [{ namespace: 'one', component_code: ECHO, props }],
    });
    expect([status, text]).toEqual([400, expect.stringContaining('Duplicate capture group name')]);
  });
});
