import { afterAll, beforeAll, expect, test } from 'vitest';
import { createIntake } from '../../../engine/src/runs/intake.ts';
import type { HeldInvocation } from '../../../engine/src/events/invocation.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

let database: TestDatabase;
let accountId: string;
let sourceId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  accountId = await insertAccount(database.db.sql);
  sourceId = await insertSource(database.db.sql, accountId);
});
afterAll(() => database.drop());

test('this node goes on within its room, and any node with the rest', async () => {
  const { sql } = database.db;
  const taken: HeldInvocation[] = [];
  const queued: number[] = [];
  const room = () => 2 - taken.length;
  const intake = createIntake({
    sql,
    nodeId: () => 'node_a',
    dispatcher: { capacity: room, capacityToAnswer: room, take: (held) => void taken.push(...held) },
    backlogs: {
      queue: (_, chars, work) => {
        queued.push(chars);
        return work();
      },
    },
  });
  const add = (id: string) => intake.add({ id, accountId, sourceId, kind: 'manual', event: '{}' });
  await Promise.all(['inv_1', 'inv_2', 'inv_3'].map(add));
  expect(intake.isFull(accountId)).toBe(true);
  await add('inv_4');
  expect(taken).toMatchObject(['inv_1', 'inv_2'].map((id) => ({ id, leasedBy: 'node_a', crashes: 0 })));
  expect(queued).toEqual([2, 2]);
  const rows = await sql`select id, leased_by, crashes from invocations where source_id = ${sourceId} order by id`;
  expect(rows.map(({ leased_by, crashes }) => [leased_by, crashes])).toEqual([
    ['node_a', 0],
    ['node_a', 0],
    [null, 0],
    [null, 0],
  ]);
  const [lane] = await sql`select count(*)::int as count from graphile_worker.jobs where key = ${`run:${sourceId}`}`;
  expect(lane?.['count']).toBe(1);
});
