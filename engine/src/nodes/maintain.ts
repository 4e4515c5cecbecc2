import type { Log } from '../log.ts';
import { interfacesOf } from '../sources/interfaces.ts';
import { endSourceChange } from '../store/change-source.ts';
import type { Sql } from '../store/database.ts';
import { dropUndeployedSource } from '../store/delete-source.ts';
import { addRunLanes } from '../store/insert-invocations.ts';
import { readAbandonedSources } from '../store/read-abandoned-sources.ts';
import { readStalledLanes } from '../store/read-stalled-lanes.ts';
import { requeueStalledDeliveries } from '../store/requeue-stalled-deliveries.ts';

/** How long an invocation or a due delivery may wait for its lane before one is queued anew. */
const STALLED_AFTER_MS = 30_000;

/**
 * Finishes what a node left half done: a deployment that never ended is undone, a change that never ended is closed with
 * the code and props that are stored, and invocations and deliveries that wait for nothing get a lane.
 */
export async function maintain(sql: Sql, log: Log): Promise<void> {
  for (const source of await readAbandonedSources(sql)) {
    log.warn({ source: source.id }, 'a deployment or change had been left half done');
    if (!source.deployed) await dropUndeployedSource(sql, source.account_id, source.id);
    else {
      const interfaces = interfacesOf(source.configurable_props, source.configured_props);
      await endSourceChange(sql, source.account_id, source.id, interfaces);
    }
  }
  await addRunLanes(sql, await readStalledLanes(sql, STALLED_AFTER_MS));
  await requeueStalledDeliveries(sql, STALLED_AFTER_MS);
}
