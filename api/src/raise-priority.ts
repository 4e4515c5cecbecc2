import { readFileSync, writeFileSync } from 'node:fs';

/** Three times the share of a usual session. */
const SESSION_NICE = -5;

/**
 * Puts the node before what it starts, and before the database's backends, where the kernel shares out the processors between sessions
 * (autogroup) and this process may say so: its only thread serves everybody, and each wait of it is a wait of all. Only of a session
 * that is the node's own, as a service manager or a container gives it one: a terminal's is its user's. What it starts has
 * sessions of its own, which begin with the usual share.
 */
export function raisePriority(): void {
  try {
    if (sessionOf(process.pid) === process.pid) writeFileSync('/proc/self/autogroup', String(SESSION_NICE));
  } catch {
    // Not Linux, no sessions that count, or no privilege: it keeps the usual share.
  }
}

/** After the name, which may hold anything: state, parent, process group, session. */
function sessionOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
}
