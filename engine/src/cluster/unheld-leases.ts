import { every, type Sql } from '../db/index.ts';
import type { Log } from '../contract/index.ts';
import { type Claim, type Dispatcher, releaseInvocations } from '../runs/index.ts';
import { readLeases } from './nodes.sql.ts';
import { postponeSends, releaseDeliveries } from '../outbox/index.ts';

export interface UnheldLeasesOptions {
  sql: Sql;
  nodeId: () => string;
  dispatcher: Holder & Pick<Dispatcher, 'refuse'>;
  deliverer: Holder;
  sends: Holder;
  log: Log;
}

/** `id`: the id of the leased row. */
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
 * Gives back rows that this node has leased but does not hold. They arise if the connection is lost
 * after the database commits and before it answers. They would wait as long as the node lives; a
 * timer whose tick is among them would never tick again. A row must be missing in two checks, since
 * an answer may be on its way at the first one. A later answer is refused: the row may belong to
 * another node by then.
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
