// limits: A test of a workflow of two dozen steps, each of which responds megabytes of characters that JSON makes six times as long.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';

const world = hostile();

const STEPS = 24;
const SHOWN = 64 * 1024;

it('the beginning of each is kept and told, and it is said that there was more', async () => {
  const { attacker } = world;
  const body = `await $.respond({ status: 200, body: String.fromCharCode(1).repeat(4_000_000) });`;
  const steps = Array.from({ length: STEPS }, () => body);
  const { id } = await makeWorkflow(attacker, { steps, settings: { timeout_seconds: 300 } });
  const { status, body: answer, text } = await world.unharmed(() => attacker.api('POST', `/workflows/${id}/test`));
  expect(status).toBe(200);
  expect(answer.data.status).toBe('succeeded');
  const shown = (answer.data.steps as { responds: { body: string; body_truncated: boolean }[] }[]).map(({ responds }) =>
    responds.map((one) => [one.body.length, one.body_truncated]),
  );
  expect(shown).toEqual(Array.from({ length: STEPS }, () => [[SHOWN, true]]));
  expect(text.length).toBeLessThan(STEPS * (SHOWN * 6 + 1_000));
});
