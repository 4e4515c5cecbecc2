import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUnstoredSteps } from '../../../engine/src/workflows/run/unstored-steps.ts';
import type { StepRow } from '../../../engine/src/runs/commit/execution-rows.ts';
import { eventually } from '../../support/eventually.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

let headwater: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  headwater = await sharedHeadwater();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await headwater.stop();
});

test('a step is not felt outside while a step before it is not durable', async () => {
  const ask = (name: string) => ({
    namespace: name,
    code: action(`await fetch("${receiver.url}/${name}"); return 1;`),
  });
  const compute = { namespace: 'compute', code: action('return 1;') };
  const { id, endpointKey } = await insertWorkflow(headwater.sql, {
    accountId: headwater.accountId,
    steps: [ask('first'), compute, ask('second')],
  });
  // This lock makes each transaction that writes steps wait.
  const held = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const locking = headwater.sql.begin(async (tx) => {
    await tx`lock table execution_steps in exclusive mode`;
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  await post(`${headwater.url}/e/${endpointKey}`, {});
  await eventually(() => receiver.requests.length === 1, { what: 'the request of the first step' });
  await eventually(
    async () =>
      (await headwater.sql`select 1 from pg_locks where not granted and relation = 'execution_steps'::regclass`)
        .length > 0,
    { what: 'steps that wait to be written' },
  );
  expect(receiver.requests.map(({ url }) => url)).toEqual(['/first']);
  held.resolve();
  await locking;
  await untilExecutions(headwater.sql, id, 1);
  expect(receiver.requests.map(({ url }) => url)).toEqual(['/first', '/second']);
});

test('steps that end while others are being written are written after them, each once', async () => {
  const written: number[][] = [];
  const commits: (() => void)[] = [];
  const steps = createUnstoredSteps({
    commit: async (rows) => {
      const positions = rows.map(({ position }) => position);
      await new Promise<void>((resolve) => commits.push(resolve));
      written.push(positions);
      return true;
    },
    onStored: () => undefined,
  });
  const add = (position: number) => steps.add({ position } as StepRow);
  add(0);
  const first = steps.store();
  await nextTurn();
  add(1);
  add(2);
  const second = steps.store();
  commits.shift()?.();
  expect(await first).toBe(true);
  await nextTurn();
  add(3);
  commits.shift()?.();
  expect(await second).toBe(true);
  expect(written).toEqual([[0], [1, 2]]);
  expect((await steps.take()).map(({ position }) => position)).toEqual([3]);
  steps.drop();
});
