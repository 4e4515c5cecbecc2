import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createLaneTurns } from '../../../engine/src/db/jobs/lane-turns.ts';
import { createActiveTenants, LIMITS } from '../../../shared/src/index.ts';
import { createDeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { startReceiver } from '../../support/receiver.ts';

/** Claims that end when they are told to. */
function held(tenants: readonly string[], options: { claimMs?: number } = {}) {
  const activeTenants = createActiveTenants();
  const turns = createLaneTurns({ activeTenants, log: testLog, ...options });
  const begun = new Map<string, PromiseWithResolvers<number>>();
  const see = () => {
    for (const tenant of tenants) activeTenants.saw(tenant, performance.now());
  };
  const run = (tenant: string, lane: string) => {
    see();
    return turns.run(tenant, lane, () => {
      const end = Promise.withResolvers<number>();
      begun.set(lane, end);
      return end.promise;
    });
  };
  const isBegun = (lane: string) => eventually(() => begun.has(lane));
  return { turns, begun, run, isBegun, see };
}

test('beside others lanes of a tenant claim one after the other, and those of others at once', async () => {
  const { begun, run, isBegun } = held(['o_a', 'o_b']);
  const first = run('o_a', 'a1');
  // The job is done: it keeps no worker.
  await Promise.all([run('o_a', 'a2'), run('o_a', 'a3'), run('o_a', 'a2')]);
  const other = run('o_b', 'b1');
  expect([...begun.keys()]).toEqual(['a1', 'b1']);
  begun.get('a1')?.resolve(0);
  await first;
  await isBegun('a2');
  expect([...begun.keys()]).toEqual(['a1', 'b1', 'a2']);
  begun.get('a2')?.resolve(0);
  await isBegun('a3');
  begun.get('a3')?.resolve(0);
  begun.get('b1')?.resolve(0);
  await other;
});

test('a waiting claim begins no sooner than after as long as the claim before it took', async () => {
  const { begun, run, isBegun, see } = held(['o_a', 'o_b']);
  const first = run('o_a', 'a1');
  await run('o_a', 'a2');
  await sleep(80);
  see();
  const endedMs = performance.now();
  begun.get('a1')?.resolve(0);
  await first;
  await isBegun('a2');
  // Node's timers may be a millisecond early.
  expect(performance.now() - endedMs).toBeGreaterThanOrEqual(75);
  begun.get('a2')?.resolve(0);
});

test('after a large claim the next one is paced beside other tenants, and begins at once without them', async () => {
  const chars = LIMITS.smallBatchChars + LIMITS.batchCharsPerSecond * 2;
  const nextAfterMs = async (tenants: readonly string[]) => {
    const { begun, run, isBegun } = held(tenants);
    const first = run('o_a', 'a1');
    begun.get('a1')?.resolve(chars);
    const endedMs = performance.now();
    await first;
    // Its job comes round again.
    const again = run('o_a', 'a2');
    await isBegun('a2');
    begun.get('a2')?.resolve(0);
    await again;
    return performance.now() - endedMs;
  };
  expect(await nextAfterMs(['o_a', 'o_b'])).toBeGreaterThanOrEqual(1_995);
  expect(await nextAfterMs(['o_a'])).toBeLessThan(1_995);
});

test('a single tenant claims for all its lanes at once', async () => {
  const { begun, run } = held(['o_a']);
  const all = ['a1', 'a2', 'a3'].map((lane) => run('o_a', lane));
  expect([...begun.keys()]).toEqual(['a1', 'a2', 'a3']);
  for (const { resolve } of begun.values()) resolve(0);
  await Promise.all(all);
});

test('a claim that fails is its job’s, or else has another turn, and those behind it go on', async () => {
  const { begun, run, isBegun } = held(['o_a', 'o_b']);
  const first = run('o_a', 'a1');
  await run('o_a', 'a2');
  await run('o_a', 'a3');
  begun.get('a1')?.reject(new Error('no database'));
  await expect(first).rejects.toThrow('no database');
  await isBegun('a2');
  const failing = begun.get('a2');
  begun.delete('a2');
  failing?.reject(new Error('no database'));
  await isBegun('a3');
  begun.get('a3')?.resolve(0);
  // It has no job, and no check has found it stalled.
  await isBegun('a2');
  expect([...begun.keys()]).toEqual(['a1', 'a3', 'a2']);
  begun.get('a2')?.resolve(0);
});

test('a claim that hangs is its job’s to try again, and keeps no other lane of its tenant waiting', async () => {
  const { turns, begun, run, isBegun } = held(['o_a', 'o_b'], { claimMs: 50 });
  const hanging = run('o_a', 'a1');
  await run('o_a', 'a2');
  await expect(hanging).rejects.toThrow('not claimed within 50 ms');
  await isBegun('a2');
  begun.delete('a2');
  // It hangs as well, and has no job: it has another turn.
  await isBegun('a2');
  begun.get('a2')?.resolve(0);
  await turns.stop();
});

test('stop waits for the claim that is under way, and says which lanes are left', async () => {
  const { turns, begun, run } = held(['o_a', 'o_b']);
  const first = run('o_a', 'a1');
  await run('o_a', 'a2');
  await run('o_a', 'a3');
  begun.get('a1')?.resolve(0);
  await first;
  expect(await turns.stop()).toEqual(['a2', 'a3']);
  expect([...begun.keys()]).toEqual(['a1']);
});

test('lanes that wait for their turn when a node stops get their jobs back, and another node delivers', async () => {
  const world = await createDeliveryWorld();
  const receiver = await startReceiver();
  const [who, other] = [await world.account(), await world.account()];
  const activeTenants = createActiveTenants();
  const deliverer = world.deliverer({ node: 'node_a', activeTenants });
  const webhooks = await Promise.all(Array.from({ length: 20 }, () => world.webhook(who, { url: receiver.url })));
  for (const webhook of webhooks) await world.emit(webhook, who, 10, null);
  for (const { accountId } of [who, other]) activeTenants.saw(accountId, performance.now());
  await Promise.all(webhooks.map(({ id }) => deliverer.runLane({ webhookId: id })));
  await deliverer.stop();
  // A few may have had their turn by then.
  expect((await world.jobKeys()).length).toBeGreaterThan(0);
  await world.runLanes(world.deliverer({ node: 'node_b' }));
  for (const { id } of webhooks) {
    await eventually(async () => (await world.rows(id)).every(({ status }) => status === 'delivered'));
  }
  expect(receiver.requests).toHaveLength(200);
  await receiver.stop();
  await world.stop();
});
