import { createActiveTenants, newId } from '@headwater/shared';
import { expect, it } from 'vitest';
import { createLaneTurns } from '../../../engine/src/db/jobs/lane-turns.ts';
import { createPostponedLanes } from '../../../engine/src/db/jobs/postponed-lanes.ts';
import { runSourceLane } from '../../../engine/src/cluster/jobs/run-source.ts';
import { insertInvocations } from '../../../engine/src/runs/invocations.sql.ts';
import { registerNode } from '../../../engine/src/cluster/nodes.sql.ts';
import { accountDatabase } from '../../support/account-database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { insertSource } from '../../support/source-rows.ts';
import { limitsOf } from '../../support/delivery-world.ts';

const world = accountDatabase();

it('a lane that has waited for its turn is claimed for the node as it is called by then', async () => {
  const { sql, accountId } = world;
  const [before, now] = [newId('node'), newId('node')];
  await registerNode(sql, { id: before, role: 'all' });
  const sourceId = await insertSource(sql, accountId);
  await insertInvocations(sql, [{ id: newId('invocation'), accountId, sourceId, kind: 'manual', event: '{}' }]);
  const activeTenants = createActiveTenants();
  for (const id of [accountId, 'o_other']) activeTenants.saw(id, performance.now());
  const laneTurns = createLaneTurns({ activeTenants, log: testLog });
  const first = Promise.withResolvers<number>();
  const claiming = laneTurns.run(accountId, 'another', () => first.promise);
  let nodeId = before;
  const options = {
    sql,
    laneTurns,
    dispatcher: { capacity: () => 10, take: () => undefined } as never,
    postponed: createPostponedLanes(500),
    turns: { runLane: () => Promise.resolve() },
    limits: limitsOf({}),
  };
  await runSourceLane(options, () => nodeId, { sourceId });
  await registerNode(sql, { id: now, role: 'all' });
  nodeId = now;
  first.resolve(0);
  await claiming;
  const holder = await eventually(async () => {
    const [row] = await sql<{ leased_by: string | null }[]>`
      select leased_by from invocations where source_id = ${sourceId}`;
    return row?.leased_by ?? undefined;
  });
  expect(holder).toBe(now);
});
