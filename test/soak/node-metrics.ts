import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeProcess } from './node-process.ts';

/** Work that a node has in memory. All are 0 once nothing that was accepted is left. */
const HELD = [
  'headwater_runs_waiting',
  'headwater_runs_in_flight',
  'headwater_runs_committing',
  'headwater_deliveries_held',
  'headwater_deliveries_in_flight',
];
const TIMEOUT_MS = 10_000;
/** After a node loses a lease, its work ends at the next access to the database. */
const PATIENCE_MS = 20_000;
const POLL_MS = 1_000;

/** The lines of /metrics without comments. What went wrong where the node does not answer. */
export async function readMetrics({ url }: NodeProcess): Promise<string[]> {
  try {
    const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  } catch (error) {
    return [String(error)];
  }
}

/**
 * Slots that nodes never give back: what they still hold some time after everything was drained.
 */
export async function readHeldWork(nodes: readonly NodeProcess[], signal: AbortSignal): Promise<string[]> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const held = await Promise.all(
      nodes.map(async (node) => {
        const lines = (await readMetrics(node)).filter((line) => HELD.includes(line.split(' ')[0] ?? ''));
        return lines.filter((line) => !line.endsWith(' 0')).map((line) => `${node.name}: ${line}`);
      }),
    );
    if (held.flat().length === 0 || signal.aborted || performance.now() > deadlineMs) return held.flat();
    await sleep(POLL_MS);
  }
}
