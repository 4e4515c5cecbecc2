import { newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../engine/src/db/database.ts';
import { mayBeOneItems } from '../../../engine/src/db/fails-each-time.ts';
import {
  createExecutionCommitter,
  type ExecutionCommitter,
} from '../../../engine/src/workflows/run/execution-committer.ts';
import type { ExecutionCommit } from '../../../engine/src/runs/commit/execution-rows.ts';
import { type CutOffDatabase, startCutOffDatabase } from '../../support/cut-off-database.ts';
import type { CuttingProxy } from '../../support/cutting-proxy.ts';
import { eventually } from '../../support/eventually.ts';
import { DONE_STEP } from '../../support/executions.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount } from '../../support/source-rows.ts';

let world: CutOffDatabase;
let proxy: CuttingProxy;
let cutOff: Database;
let committer: ExecutionCommitter;
let accountId: string;

beforeAll(async () => {
  world = await startCutOffDatabase();
});
afterAll(() => world.stop());
beforeEach(async () => {
  ({ proxy, cutOff } = await world.connect());
  accountId = await insertAccount(world.database.db.sql);
  committer = createExecutionCommitter({ sql: cutOff.sql, history: { add: () => undefined }, log: testLog });
});

async function leased(leasedBy: string): Promise<string> {
  const id = newId('execution');
  await world.database.db.sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts, claim, place, leased_by)
    values (${id}, ${accountId}, 'p_1', 'manual', '{}', 1, 1, nextval('invocation_places'), ${leasedBy})`;
  return id;
}

const commitOf = (id: string): ExecutionCommit => ({
  key: { id, accountId, workflowId: 'p_1', deploymentId: 'd_1' },
  lease: { leasedBy: 'node_a', claim: 1 },
  steps: [{ ...DONE_STEP, startedAtMs: 1_700_000_000_123, endedAtMs: 1_700_000_000_456 }],
  endsWait: false,
  start: { kind: 'manual', event: '{}', context: '{}', causedBy: undefined, traceId: id, startedAtMs: 1 },
});
const WAIT = { kind: 'delay' as const, position: 0, runs: 1, failures: 0, token: 't', wakeAtMs: 9e12, bytes: 1 };

test.each([
  {
    what: 'an end',
    write: (id: string) =>
      committer.commit({ ...commitOf(id), end: { status: 'succeeded', endedAtMs: 1_700_000_000_789 } }),
  },
  { what: 'a wait', write: (id: string) => committer.park({ ...commitOf(id), wait: WAIT }) },
])('$what whose answer was lost is known as written when its lease is found ended', async ({ write }) => {
  const { sql } = world.database.db;
  const id = await leased('node_a');
  proxy.cutAt('commit');
  const written = write(id);
  await eventually(async () => (await sql`select from executions where id = ${id}`).length === 1);
  proxy.pass();
  expect(await written).toBe(true);
  expect(await sql`select runs from execution_steps where execution_id = ${id}`).toEqual([{ runs: 1 }]);
});

test('an end that another holder has written is not taken for its own', async () => {
  const { sql } = world.database.db;
  const id = await leased('node_a');
  const end = { status: 'succeeded' as const, endedAtMs: 1_700_000_000_789 };
  proxy.cutAt('insert into execution_steps', false);
  const written = committer.commit({ ...commitOf(id), end });
  await sql`update invocations set leased_by = 'node_b', claim = 2 where id = ${id}`;
  const other = createExecutionCommitter({ sql, history: { add: () => undefined }, log: testLog });
  const lease = { leasedBy: 'node_b', claim: 2 };
  expect(await other.commit({ ...commitOf(id), lease, end: { ...end, endedAtMs: end.endedAtMs + 1 } })).toBe(true);
  proxy.pass();
  expect(await written).toBe(false);
});

test('an item that the database refuses for its own sake keeps none of its batch waiting', async () => {
  const { sql } = world.database.db;
  const direct = createExecutionCommitter({ sql, history: { add: () => undefined }, log: testLog });
  const [bad, good] = [await leased('node_a'), await leased('node_a')];
  await sql.unsafe(`
    create function refuse_step() returns trigger language plpgsql as $$
      begin if new.execution_id = '${bad}' then raise exception 'refused' using errcode = 'XX000'; end if; return new; end $$;
    create trigger refuse before insert on execution_steps for each row execute function refuse_step();`);
  const refused = direct.commit(commitOf(bad));
  expect(await direct.commit(commitOf(good))).toBe(true);
  // It is kept, and tried again until it can be written.
  await sql`drop trigger refuse on execution_steps`;
  expect(await refused).toBe(true);
});

test.each(['57P01', '53300', '25006', '40P01', 'CONNECTION_CLOSED'])(
  '%s is no reason to take a batch apart',
  (code) => {
    expect(mayBeOneItems(Object.assign(new Error('x'), { code }))).toBe(false);
  },
);
