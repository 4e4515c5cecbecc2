import { every } from '../db/every.ts';
import type { Log } from '../contract/log.ts';
import type { Dispatcher } from '../runs/dispatcher.ts';
import type { Sql } from '../db/database.ts';
import { readLeases } from './read-leases.sql.ts';
import { releaseDeliveries } from '../outbox/deliveries/release-deliveries.sql.ts';
import { type Claim, releaseInvocations } from '../runs/release-invocations.sql.ts';
import { postponeSends } from '../outbox/sends/release-sends.sql.ts';

export interface UnheldLeasesOptions {
  sql: Sql;
  nodeId: () => string;
  dispatcher: Holder & Pick<Dispatcher, 'refuse'>;
  deliverer: Holder;
  sends: Holder;
  log: Log;
}

/** By the id of what is leased. */
interface Holder {
  holds(id: string): boolean;
}

const LOOK_EVERY_MS = 5_000;

/**
 * Every LOOK_EVERY_MS. Answers a stop that waits for the look under way; before what holds anything
 * stops.
 */
export function startUnheldLeases(options: UnheldLeasesOptions): () => Promise<void> {
  return every(LOOK_EVERY_MS, createUnheldLeases(options), (err) =>
    options.log.warn({ err }, 'leases that nothing holds could not be looked for'),
  );
}

/**
 * Gives back what this node has leased and does not hold. Where the connection is lost after the
 * database has committed and before it has said so, rows are leased for this node, and nobody tells
 * it: as long as it lives they would wait, and a timer whose tick is one of them would never tick
 * again. What is on its way from the database is held by the second look; an answer that comes
 * later still is refused, since the row may be another's by then.
 */
export function createUnheldLeases({ sql, nodeId, dispatcher, deliverer, sends, log }: UnheldLeasesOptions) {
  let suspects = new Set<string>();
  return async (): Promise<void> => {
    const id = nodeId();
    const leases = await readLeases(sql, id);
    const unheld = {
      invocations: leases.invocations.filter(({ id: one }) => !dispatcher.holds(one)),
      deliveries: leases.deliveries.filter((one) => !deliverer.holds(one)),
      sends: leases.sends.filter(({ id: one }) => !sends.holds(one)),
    };
    const seenBefore = suspects;
    suspects = new Set([
      ...unheld.invocations.map(keyOf),
      ...unheld.deliveries,
      ...unheld.sends.map(({ id: one }) => one),
    ]);
    const invocations = unheld.invocations.filter((one) => seenBefore.has(keyOf(one)));
    const deliveries = unheld.deliveries.filter((one) => seenBefore.has(one));
    const units = unheld.sends.filter(({ id: one }) => seenBefore.has(one));
    if (invocations.length + deliveries.length + units.length === 0) return;
    log.warn({ invocations, deliveries, sends: units }, 'leases that nothing holds are given back');
    dispatcher.refuse(invocations);
    await releaseInvocations(sql, id, invocations);
    if (deliveries.length > 0) await releaseDeliveries(sql, id, { ids: deliveries });
    if (units.length > 0) await postponeSends(sql, id, units, Date.now());
  };
}

const keyOf = ({ id, claim }: Claim) => `${id} ${claim}`;
