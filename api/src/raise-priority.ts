import cluster from 'node:cluster';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Three times the share of a usual session. */
const SESSION_NICE = -5;
/** V8's helper threads get a tenth of the main thread's share within the session. */
const HELPER_NICE = 10;
const HELPER = 'V8Worker';

/**
 * Puts the node before what it starts, and before the database's backends, where the kernel shares
 * out the processors between sessions (autogroup) and this process may say so: its only thread
 * serves everybody, and each wait of it is a wait of all. Only of a session that is the node's own,
 * as a service manager or a container gives it one: a terminal's is its user's. What it starts has
 * sessions of its own, which begin with the usual share.
 *
 * Within the session that thread goes before V8's helpers: while they mark what is alive, for 60
 * ms, they took it off its processor for 3 to 8 ms at a time. Where it waits for them they have the
 * share of the session.
 */
export function raisePriority(): void {
  try {
    const session = sessionOf(process.pid);
    // A worker is in the session of the process that has started it.
    if (session !== process.pid && !(cluster.isWorker && session === process.ppid)) return;
    writeFileSync('/proc/self/autogroup', String(SESSION_NICE));
    for (const thread of readdirSync('/proc/self/task')) {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
      if (name === HELPER) setPriority(Number(thread), HELPER_NICE);
    }
  } catch {
    // Not Linux, no sessions that count, or no privilege: it keeps the usual share.
  }
}

/** After the name, which may hold anything: state, parent, process group, session. */
function sessionOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
}
