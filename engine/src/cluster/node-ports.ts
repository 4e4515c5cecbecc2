import { networkInterfaces } from 'node:os';
import type { DeniedPort, Egress } from '../egress/index.ts';
import { every, type ListeningNode, NODE_LISTENS_CHANNEL, readListeningNodes, type Sql } from '../db/index.ts';
import type { Log } from '../contract/index.ts';

/** For nodes that are gone; of those that come it is told. */
const REFRESH_MS = 5_000;

/**
 * Makes the egress guard refuse the ports of other nodes. Their APIs and metrics treat a caller
 * inside the network as an operator, so component code must not reach them. A node registers before
 * it listens, and this node hears of it. So no connection can be opened in between and kept.
 * Returns a stop.
 */
export async function refuseNodePorts(
  egress: Pick<Egress, 'deny'>,
  { sql, nodeId, log }: { sql: Sql; nodeId: () => string; log: Log },
): Promise<() => Promise<void>> {
  let ports: DeniedPort[] = [];
  egress.deny(() => ports);
  let reading = Promise.resolve();
  const readNow = async () => {
    ports = portsOfNodes(await readListeningNodes(sql, nodeId()), ownAddresses());
  };
  // One after the other: an older result must not replace a newer one.
  const read = () => (reading = reading.then(readNow, readNow));
  const warn = (err: unknown) => log.warn({ err }, 'the ports of other nodes could not be read');
  const readSoon = () => void read().catch(warn);
  // After every (re)connection of the listener too: something may have been missed while it was
  // away.
  const listener = await sql.listen(NODE_LISTENS_CHANNEL, readSoon, readSoon);
  await read();
  const stopTurns = every(REFRESH_MS, read, warn);
  return async () => {
    await listener.unlisten();
    await stopTurns();
  };
}

/** Addresses of this machine's interfaces, without loopback: every machine has that. */
export function ownAddresses(): string[] {
  const entries = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return [...new Set(entries.flatMap(({ address, internal }) => (internal ? [] : [address])))];
}

/**
 * A node that has an address of this machine, or none, is reached at every address of this machine,
 * loopback too. Where two machines have the same address (of a bridge between containers), a port
 * of this one is refused at which no node listens.
 */
function portsOfNodes(nodes: readonly ListeningNode[], own: readonly string[]): DeniedPort[] {
  return nodes.flatMap(({ addresses, ports }) => {
    const isHere = addresses.length === 0 || addresses.some((address) => own.includes(address));
    const places: { host?: string }[] = [...(isHere ? [{}] : []), ...addresses.map((host) => ({ host }))];
    return ports.flatMap((port) => places.map((place) => ({ port, ...place })));
  });
}
