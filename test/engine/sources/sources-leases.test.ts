import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { whileHeld } from '../../../engine/src/sources/lifecycle.ts';
import type { ChangeLease } from '../../../engine/src/db/change-lease.ts';
import {
  endSourceChange,
  markHooksBegun,
  putSourceChange,
  stopSource,
} from '../../../engine/src/sources/change-source.sql.ts';
import {
  claimAbandonedSource,
  leaveHooksToRecovery,
  leaveToRecovery,
} from '../../../engine/src/sources/claim-abandoned-source.sql.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import { deleteSourceRows, dropUndeployedSource } from '../../../engine/src/sources/delete-source.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount, insertSource, leaseSource } from '../../support/source-rows.ts';

/* Leases of a source's change: one holder at a time, even if one node held the lease twice. */

let database: TestDatabase;
let sql: Sql;
let accountId: string;
let lease: ChangeLease;
const NODE = 'node_a';

beforeAll(async () => {
  database = await createTestDatabase();
  ({ sql } = database.db);
  accountId = await insertAccount(sql);
  await sql`insert into nodes (id, role) values (${NODE}, 'all')`;
});
afterAll(() => database.drop());
beforeEach(async () => {
  await sql`update sources set busy_until = null`;
  lease = await leaseSource(sql, accountId, await insertSource(sql, accountId));
});

const claim = (changeId: string) => claimAbandonedSource(sql, { changeId, nodeId: NODE, seconds: 60 });
const row = async () => {
  const [found] = await sql`
    select active, name, deleted_at, busy_until, change_id from sources where id = ${lease.sourceId}`;
  return found;
};

async function rename(holder: ChangeLease): Promise<void> {
  const [{ component_id: componentId } = { component_id: '' }] = await sql<{ component_id: string }[]>`
    select component_id from sources where id = ${lease.sourceId}`;
  const empty = {
    configuredProps: {},
    dynamicProps: [],
    httpProps: [],
    preflight: 'allow' as const,
    durability: 'stored' as const,
  };
  const change = { ...empty, componentId, active: true, name: 'renamed', nameSlug: lease.sourceId };
  await putSourceChange(sql, holder, change);
}

it('a change that was taken over writes nothing more, also where the same node has it again', async () => {
  await markHooksBegun(sql, lease);
  await leaveToRecovery(sql, lease, 0);
  expect((await claim('recovery'))?.id).toBe(lease.sourceId);
  const before = await row();
  await expect(rename(lease)).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(markHooksBegun(sql, lease)).rejects.toMatchObject({ code: 'CONFLICT' });
  await stopSource(sql, lease);
  await endSourceChange(sql, lease, { httpProps: [], timers: [] });
  expect(await deleteSourceRows(sql, lease)).toBe(false);
  await dropUndeployedSource(sql, lease);
  await leaveToRecovery(sql, lease, 0);
  expect(await leaveHooksToRecovery(sql, lease)).toBe(true);
  expect(await row()).toEqual(before);

  const holder = { ...lease, changeId: 'recovery' };
  await rename(holder);
  await endSourceChange(sql, holder, { httpProps: [], timers: [] });
  expect(await row()).toMatchObject({ name: 'renamed', busy_until: null, change_id: null });
});

it('nor does one that a node of the version before has taken over, which says nothing of the change', async () => {
  await sql`update sources set busy_by = 'node_of_before', busy_until = now() + interval '1 minute' where id = ${lease.sourceId}`;
  await expect(rename(lease)).rejects.toMatchObject({ code: 'CONFLICT' });
  await endSourceChange(sql, lease, { httpProps: [], timers: [] });
  expect(await deleteSourceRows(sql, lease)).toBe(false);
  expect((await row())?.busy_until).not.toBeNull();
});

it('a change without a hook yet is left to its holder, one with a hook to recovery', async () => {
  expect(await leaveHooksToRecovery(sql, lease)).toBe(false);
  expect(await claim('too early')).toBeUndefined();
  await markHooksBegun(sql, lease);
  expect(await leaveHooksToRecovery(sql, lease)).toBe(true);
  expect(await claim('recovery')).toMatchObject({ id: lease.sourceId, hooks_begun: true });
});

it('a lease is extended for as long as the change takes, and no longer', async () => {
  await sql`update sources set busy_until = null where id = ${lease.sourceId}`;
  lease = await leaseSource(sql, accountId, lease.sourceId, 1);
  const changed = whileHeld(
    { db: database.db, log: testLog },
    lease,
    async () => {
      await sleep(2_500);
      return claim('during it');
    },
    1,
  );
  expect(await changed).toBeUndefined();
  await expect.poll(() => claim('after it'), { timeout: 3_000 }).toMatchObject({ id: lease.sourceId });
});

it('a change that fails is extended no further', async () => {
  const context = { db: database.db, log: testLog };
  await expect(whileHeld(context, lease, () => Promise.reject(new Error('broken')), 0.2)).rejects.toThrow('broken');
  const before = await row();
  await sleep(500);
  expect(await row()).toEqual(before);
});
