// limits: A workflow of twenty steps which each log six megabytes and fail, and whose failures the next step passes over.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action } from '../../support/executions.ts';
import { hostile } from '../../support/hostile.ts';
import { post } from '../../support/server.ts';

const world = hostile();

const STEPS = 20;
const LINES = 380;
const MAX_BYTES = 6 * 1024 * 1024;

it('ends where all of them have put out what one execution may', async () => {
  const { attacker } = world;
  const code = action(`for (let i = 0; i < ${LINES}; i++) console.log('a'.repeat(16_000)); throw new Error('on');`);
  const ended = await world.unharmed(async () => {
    const made = await attacker.api('POST', '/workflows', {
      name: 'Goes on',
      triggers: [{ type: 'http' }],
      steps: Array.from({ length: STEPS }, (_, i) => ({
        namespace: `step${i}`,
        component_code: code,
        on_error: 'continue',
      })),
    });
    const { id, triggers } = made.body.data;
    await post(triggers[0].endpoint_url, {});
    return eventually(async () => {
      const { body } = await attacker.api('GET', `/workflows/${id}/executions?status=failed`);
      return body.data[0] as { id: string } | undefined;
    });
  });
  // Afterwards: its megabytes are read here, in the process that measures what the neighbour sees.
  const { body } = await attacker.api('GET', `/executions/${ended.id}`);
  const limit = { name: 'maxRunOutputBytes', value: MAX_BYTES, used: expect.any(Number) };
  expect(body.data.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit });
  expect(body.data.steps).toMatchObject({ step0: { status: 'continued' }, step1: { status: 'failed' } });
  expect(body.data.steps.step2).toBeUndefined();
  const [{ kept } = { kept: 0 }] = await world.sql<{ kept: number }[]>`
    select sum(octet_length(logs))::float8 as kept from execution_steps where execution_id = ${ended.id}`;
  expect(kept).toBeGreaterThan(MAX_BYTES / 2);
  expect(kept).toBeLessThan(1.2 * MAX_BYTES);
});
