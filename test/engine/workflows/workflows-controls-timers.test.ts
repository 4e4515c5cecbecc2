import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action, readExecutions, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

async function ticking(body: string, settings: Record<string, unknown> = {}): Promise<string> {
  const { data, text } = await hw.api('POST', '/workflows', {
    triggers: [{ type: 'timer', interval_seconds: 1 }],
    steps: [{ namespace: 'only', component_code: action(body) }],
    settings,
  });
  if (data === undefined) throw new Error(text);
  return data.id;
}

it('ticks of a paused workflow are kept, and run in their order', async () => {
  const id = await ticking('return steps.trigger.event.timestamp;', {
    concurrency: 1,
    throttle: { limit: 0, interval_seconds: 60 },
  });
  const waiting = () => hw.sql`select from invocations where source_id = ${id} and leased_by is null`;
  await eventually(async () => (await waiting()).length >= 3);
  expect(await readExecutions(hw.sql, id)).toEqual([]);
  await hw.api('PUT', `/workflows/${id}`, { settings: { throttle: null } });
  const executions = await eventually(async () => {
    const found = await readExecutions(hw.sql, id);
    return found.length >= 3 && found;
  });
  const moments = executions.map(({ steps }) => steps[0]?.value as number);
  expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  await hw.api('DELETE', `/workflows/${id}`);
});

it('a tick is not passed over while the execution of the one before waits', async () => {
  const id = await ticking('$.flow.delay(60_000);');
  const [first, second] = await untilExecutions(hw.sql, id, 2, ['waiting']);
  expect([first?.status, second?.status]).toEqual(['waiting', 'waiting']);
  await hw.api('DELETE', `/workflows/${id}`);
});
