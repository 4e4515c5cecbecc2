import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  claimInvocations,
  countCrash,
  insertInvocations,
  releaseInvocations,
} from '../../../engine/src/runs/invocations.sql.ts';
import { releaseDeadNodes, releaseNode } from '../../../engine/src/cluster/nodes.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('claims, releases, and the ends of nodes leave the count of crashes as it is', async () => {
  const { sql } = database.db;
  const accountId = await insertAccount(sql);
  const sourceId = await insertSource(sql, accountId);
  const id = 'inv_counted';
  await insertInvocations(sql, [{ id, accountId, sourceId, kind: 'manual', event: '{}', leasedBy: 'node_first' }]);
  expect(await countCrash(sql, { id, leasedBy: 'node_other', claim: 1 })).toBeUndefined();
  expect(await countCrash(sql, { id, leasedBy: 'node_first', claim: 1 })).toBe(1);
  const ends: Record<string, (node: string, claim: number) => Promise<unknown>> = {
    node_released: (node, claim) => releaseInvocations(sql, node, [{ id, claim }]),
    node_stopped: (node) => releaseNode(sql, node),
    node_dead: () => releaseDeadNodes(sql, { deadAfterMs: 10_000, exceptId: 'node_me' }),
  };
  await releaseInvocations(sql, 'node_first', [{ id, claim: 1 }]);
  for (const round of [1, 2, 3]) {
    for (const [node, end] of Object.entries(ends)) {
      const { held } = await claimInvocations(sql, sourceId, node, 10);
      expect({ round, node, held }).toMatchObject({ round, node, held: [{ id, crashes: 1 }] });
      await end(node, held[0]?.claim ?? 0);
    }
  }
  expect([...(await sql`select id, leased_by, crashes from invocations`)]).toEqual([
    { id, leased_by: null, crashes: 1 },
  ]);
});
