// limits: Workflows whose props are as many, as long and as deep expressions as a request can hold.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { ECHO } from '../../support/workflow-steps.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();

/** Eighty are as many as a request can hold. */
const STEPS = longRun(20, 80);

it('are refused before they keep the node busy, and the neighbour is served', async () => {
  const { attacker } = world;
  const values = {
    many: '{{1}}'.repeat(13_000),
    long: `{{${'1 + '.repeat(15_000)}1}}`,
    deep: `{{${'['.repeat(4_900)}${']'.repeat(4_900)}}}`.repeat(6),
    functions: `{{${'a=>'.repeat(3_000)}1}}`.repeat(6),
    unclosed: '{{"'.repeat(15_000),
    braces: '{'.repeat(60_000),
  };
  await world.unharmed(async () => {
    for (const [name, text] of Object.entries(values)) {
      const steps = Array.from({ length: STEPS }, (_, i) => ({
        namespace: `s${i}`,
        component_code: ECHO,
        props: { text },
      }));
      const { status } = await attacker.api('POST', '/workflows', { steps });
      expect([name, status]).toEqual([name, 400]);
    }
  });
});
