// fairness: `$.send` with megabytes of `[],`, which take half a second to parse, at each attempt.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { ShownSend } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';
import { makeWorkflow } from '../../support/hostile-workflows.ts';
import { startReceiver } from '../../support/receiver.ts';

const world = hostile();
const LISTS = 400_000;

it('are sent as they are, refused where they would have to be read, and the neighbour is served', async () => {
  const { attacker } = world;
  const receiver = await startReceiver();
  try {
    const { id } = await makeWorkflow(attacker, {
      steps: [
        `const url = '${receiver.url}', data = Array.from({ length: ${LISTS} }, () => []);
         $.send.http({ url, data });
         $.send.http({ url, data, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
         $.send.http({ url, params: { data } });`,
      ],
    });
    let rounds = 0;
    await world.unharmed(async () => {
      rounds++;
      const ran = await attacker.api('POST', `/workflows/${id}/run`, {});
      const { execution_id: executionId } = ran.body.data as { execution_id: string };
      const sends = await eventually(
        async () => {
          const { body } = await attacker.api('GET', `/executions/${executionId}/sends`);
          const shown = (body?.data ?? []) as ShownSend[];
          return shown.length === 3 && shown.every(({ attempts }) => attempts.length > 0) && shown;
        },
        { timeoutMs: 20_000, everyMs: 250 },
      );
      expect(sends.map(({ status, attempts }) => [status, attempts[0]?.error ?? null])).toEqual([
        ['failed', expect.stringContaining('longer than 262144')],
        ['failed', expect.stringContaining('too long for a form')],
        ['delivered', null],
      ]);
    });
    expect(receiver.requests).toHaveLength(rounds);
    expect(receiver.requests[0]?.body === `[${'[],'.repeat(LISTS - 1)}[]]`).toBe(true);
  } finally {
    await receiver.stop();
  }
});
