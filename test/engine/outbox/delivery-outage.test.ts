import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { createDeliveryWorld, type DeliveryWorld, limitsOf } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type WatchedTransactions, watchTransactions } from '../../support/watch-transactions.ts';

let world: DeliveryWorld;
/** Nothing listens there. */
let deadUrl: string;
let updates: WatchedTransactions;

beforeAll(async () => {
  world = await createDeliveryWorld();
  const { sql } = world.database.db;
  await sql`create table jobs_added (key text)`;
  await sql`
    create function note_job() returns trigger language plpgsql as
    'begin insert into jobs_added values (new.key); return new; end'`;
  await sql`
    create trigger note_job after insert or update of run_at on graphile_worker._private_jobs
    for each row when (new.key is not null and new.locked_at is null) execute function note_job()`;
  updates = await watchTransactions(sql, 'deliveries', 'update');
  deadUrl = `http://127.0.0.1:${await unusedPort()}/`;
});
afterAll(() => world.stop());

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<unknown>((resolve) => server.close(resolve));
  return port;
}

const WEBHOOKS = 100;
const EACH = 10;

test('the retries of a hundred dead webhooks take a job a second of their account, and claims of many at once', async () => {
  const { sql } = world.database.db;
  const who = await world.account();
  const dead = await Promise.all(Array.from({ length: WEBHOOKS }, () => world.webhook(who, { url: deadUrl })));
  const deliverer = world.deliverer({ node: 'node_dead', retry: { scheduleSeconds: [1, 3_600], jitter: 0 } });
  for (const webhook of dead) deliverer.take(await world.emit(webhook, who, EACH, 'node_dead'));
  const runner = await world.runLanes(deliverer);
  await eventually(() => deliverer.stats().retried === 2 * WEBHOOKS * EACH);
  await runner.stop();
  const [added] = await sql<{ jobs: number }[]>`select count(*)::int4 as jobs from jobs_added`;
  // Each attempt is leased by one transaction and recorded by another, ten and more at once.
  const transactions = (await updates.rows()).length;
  expect([added?.jobs, transactions]).toEqual([expect.toSatisfy((n) => n < 100), expect.toSatisfy((n) => n < 400)]);
});

test('webhooks that find no room come back with one job, and all of theirs is sent', async () => {
  const { sql } = world.database.db;
  const receiver = await startReceiver();
  const who = await world.account();
  const webhooks = await Promise.all(Array.from({ length: 40 }, () => world.webhook(who, { url: receiver.url })));
  for (const webhook of webhooks) await world.emit(webhook, who, 3, null);
  const full = world.deliverer({ node: 'node_full', limits: { maxHeld: 0 } });
  await sql`delete from graphile_worker._private_jobs`;
  for (const { id } of webhooks) await full.runLane({ webhookId: id });
  await full.runAccountLane({ accountId: who.accountId });
  const keys = await world.jobKeys();
  expect(keys.length).toBeLessThanOrEqual(2);
  expect(keys).toEqual(keys.map(() => expect.stringMatching(`^deliver:${who.accountId}:`)));
  const runner = await world.runLanes(world.deliverer({ node: 'node_free', accountLimits: limitsOf({}) }));
  await receiver.until(120);
  await runner.stop();
  await receiver.stop();
});

test('an account’s lane leaves held webhooks alone and wakes the lanes of those in order', async () => {
  const { sql } = world.database.db;
  const who = await world.account();
  const [held, ordered, free, gone] = [
    await world.webhook(who, { url: deadUrl }),
    await world.webhook(who, { url: deadUrl, ordering: 'fifo' }),
    await world.webhook(who, { url: deadUrl }),
    await world.webhook(who, { url: deadUrl }),
  ];
  for (const webhook of [held, ordered, free, gone]) await world.emit(webhook, who, 2, null);
  await sql`update webhooks set active = false where id = ${held.id}`;
  await sql`delete from webhooks where id = ${gone.id}`;
  await sql`delete from graphile_worker._private_jobs`;
  const deliverer = world.deliverer({ node: 'node_mixed', retry: { scheduleSeconds: [3_600] } });
  await deliverer.runAccountLane({ accountId: who.accountId });
  const attempts = async (id: string) => (await world.rows(id)).map((row) => row.attempt_count);
  await eventually(async () => (await attempts(free.id)).join() === '1,1');
  expect([await attempts(held.id), await attempts(ordered.id)]).toEqual([
    [0, 0],
    [0, 0],
  ]);
  const keys = await world.jobKeys();
  expect(keys).toContain(`deliver:${ordered.id}:now`);
  expect(keys).not.toContain(`deliver:${held.id}:now`);
});

test('one turn of an account’s lane takes the same share of each webhook, so a backlog holds up no other', async () => {
  const { sql } = world.database.db;
  const who = await world.account();
  const [backlog, one, other] = [
    await world.webhook(who, { url: deadUrl }),
    await world.webhook(who, { url: deadUrl }),
    await world.webhook(who, { url: deadUrl }),
  ];
  await world.emit(backlog, who, 2 * LIMITS.accountLaneBatch, null);
  for (const webhook of [one, other]) await world.emit(webhook, who, 5, null);
  const deliverer = world.deliverer({ node: 'node_shares', retry: { scheduleSeconds: [3_600], jitter: 0 } });
  await sql`delete from graphile_worker._private_jobs`;
  await deliverer.runAccountLane({ accountId: who.accountId });
  const taken = async (id: string) =>
    (await world.rows(id)).filter((row) => row.leased_by !== null || row.attempt_count > 0).length;
  expect([await taken(one.id), await taken(other.id)]).toEqual([5, 5]);
  expect(await taken(backlog.id)).toBe(Math.floor(LIMITS.accountLaneBatch / 3));
  // The rest has a job.
  expect(await world.jobKeys()).toContain(`deliver:${who.accountId}:now`);
});
