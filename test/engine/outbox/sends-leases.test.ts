import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import { createRetention } from '../../../engine/src/cluster/retention/retention.ts';
import { claimSends } from '../../../engine/src/outbox/sends/claim-sends.sql.ts';
import { recordSendAttempts } from '../../../engine/src/outbox/sends/record-send-attempts.sql.ts';
import { releaseDeadNodes } from '../../../engine/src/cluster/nodes.sql.ts';
import { requeueStalledSends } from '../../../engine/src/outbox/sends/release-sends.sql.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { createSendWorld, type SendWorld } from '../../support/send-world.ts';

let world: SendWorld;
let receiver: Receiver;
let who: Principal;

beforeEach(async () => {
  world = await createSendWorld();
  receiver = await startReceiver();
  who = await world.account();
});
afterEach(async () => {
  await receiver.stop();
  await world.stop();
});

const sql = () => world.database.db.sql;
const requests = (count: number) => Array.from({ length: count }, (_, n) => ({ url: `${receiver.url}/${n}` }));
const paths = () => receiver.requests.map(({ url }) => url);

test('a backlog is sent by the jobs of two nodes to the end, and nothing twice', async () => {
  await world.node({ id: 'node_a', lanes: true });
  await world.node({ id: 'node_b', lanes: true });
  await world.send(who, 'http', requests(300));
  await receiver.until(300, 20_000);
  await eventually(async () => {
    const [left] = await sql()<{ n: number }[]>`select count(*) as n from sends where status <> 'delivered'`;
    return left?.n === 0;
  });
  expect(receiver.requests).toHaveLength(300);
  expect(new Set(paths()).size).toBe(300);
});

test('a claim ends once its payloads are large together, and leaves a job for the rest', async () => {
  const data = 'x'.repeat(0.4 * LIMITS.maxClaimBytes);
  const ids = await world.send(
    who,
    'http',
    requests(5).map((request) => ({ ...request, data })),
  );
  const claimed: string[][] = [];
  for (const left of [true, false, false]) {
    await sql()`delete from graphile_worker._private_jobs`;
    claimed.push((await claimSends(sql(), 'node_a', who.accountId, 64)).map(({ id }) => id));
    expect((await sql()`select from graphile_worker._private_jobs`).length > 0).toBe(left);
  }
  expect(claimed).toEqual([ids.slice(0, 3), ids.slice(3), []]);
});

test('sends held by a dead node are sent by another', async () => {
  const ids = await world.send(who, 'http', requests(3));
  expect(await claimSends(sql(), 'node_dead', who.accountId, 10)).toHaveLength(3);
  await sql()`delete from graphile_worker._private_jobs`;
  await world.node({ lanes: true });
  const released = await releaseDeadNodes(sql(), { deadAfterMs: 10_000, exceptId: 'node_test' });
  expect(released).toMatchObject({ sends: 3 });
  for (const id of ids) expect(await world.ended(id)).toMatchObject({ status: 'delivered', attempt_count: 1 });
});

test('a node that lost its lease records nothing', async () => {
  const [id = ''] = await world.send(who, 'http', requests(1));
  await claimSends(sql(), 'node_slow', who.accountId, 10);
  await releaseDeadNodes(sql(), { deadAfterMs: 10_000, exceptId: 'node_test' });
  const attempt = { at: new Date().toISOString(), duration_ms: 1 };
  const result = { item: { id, accountId: who.accountId }, attempt, status: 'failed' as const };
  expect(await recordSendAttempts(sql(), 'node_slow', [result])).toEqual([false]);
  expect(await world.row(id)).toMatchObject({ status: 'pending', attempt_count: 0 });
});

test('stop lets attempts in flight finish and gives back the rest, with a job for them', async () => {
  receiver.answer = { delayMs: 200 };
  const ids = await world.send(who, 'http', requests(40));
  const { runner } = await world.node();
  await runner.runLane(who);
  await receiver.until(16);
  await runner.stop();
  const rows = await Promise.all(ids.map(world.row));
  expect(rows.filter(({ status }) => status === 'delivered')).toHaveLength(16);
  expect(rows.filter(({ status, leased_by }) => status === 'pending' && leased_by === null)).toHaveLength(24);
  expect(rows.every(({ attempt_count, status }) => attempt_count === (status === 'delivered' ? 1 : 0))).toBe(true);
  const jobs = await sql()`select key from graphile_worker.jobs where key = ${`send:${who.accountId}:now`}`;
  expect(jobs).toHaveLength(1);
});

test('an attempt cut off by a stop is not counted and is made again', async () => {
  receiver.script({ delayMs: 20_000 });
  const [id = ''] = await world.send(who, 'http', requests(1));
  const { runner } = await world.node({ drainMs: 10 });
  await runner.runLane(who);
  await receiver.until(1);
  await runner.stop();
  expect(await world.row(id)).toMatchObject({ status: 'pending', attempt_count: 0, leased_by: null });
  await world.node({ id: 'node_b', lanes: true });
  expect(await world.ended(id)).toMatchObject({ status: 'delivered', attempt_count: 1 });
});

test('sends that have lost their job get one', async () => {
  const [id = ''] = await world.send(who, 'http', requests(1));
  await sql()`delete from graphile_worker._private_jobs`;
  expect(await requeueStalledSends(sql(), 30_000)).toBe(0);
  await sql()`update sends set next_attempt_at = now() - interval '31 seconds' where id = ${id}`;
  expect(await requeueStalledSends(sql(), 30_000)).toBe(1);
  await world.node({ lanes: true });
  expect(await world.ended(id)).toMatchObject({ status: 'delivered' });
});

test('an ended send is deleted after the retention of its account, and a pending one stays', async () => {
  const [gone = '', kept = ''] = await world.send(who, 'http', requests(2));
  await sql()`
    insert into emitters (id, account_id, user_id, kind, name, name_slug)
    select workflow_id, account_id, ${who.userId}, 'workflow', 'w', 'w' from sends where id = ${gone}`;
  await sql()`update sends set status = 'delivered' where id = ${gone}`;
  const turn = createRetention({
    sql: sql(),
    defaultDays: 30,
    defaultVersions: 20,
    nowMs: () => Date.now() + 31 * 24 * 3600 * 1000,
  });
  await turn();
  await expect(world.row(gone)).rejects.toThrow('There is no send');
  expect(await world.row(kept)).toMatchObject({ status: 'pending' });
});
