import cluster from 'node:cluster';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Three times the share of a usual session. */
const SESSION_NICE = -5;
/** V8's helper threads get a tenth of the main thread's share within the session. */
const HELPER_NICE = 10;
const HELPER = 'V8Worker';

/**
 * Raises the node's priority above its child processes and the database's backends. Needs a kernel
 * that shares processors between sessions (autogroup), and the right to change that. The node's one
 * thread serves all tenants, so each of its waits delays them all. Applies only if the node has its
 * own session, as under a service manager or in a container. A terminal's session belongs to its
 * user. Child processes have their own sessions with the usual share.
 *
 * In the session, the main thread goes before V8's helpers. While these marked live objects for 60
 * ms, they took its processor for 3 to 8 ms at a time. When the main thread waits for them, they
 * get the session's share.
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
