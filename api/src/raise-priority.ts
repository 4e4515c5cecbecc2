import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Three times the share of a usual session. */
const SESSION_NICE = -5;
/** The least of real time: before everything that is not. */
const REAL_TIME_PRIORITY = 1;

/**
 * Puts the node's first thread before what it starts, and before the database's backends: it serves everybody, each request passes it a
 * dozen times, and each of its waits is a wait of all. Does what this process may: without root or CAP_SYS_NICE, nothing.
 */
export function raisePriority(): void {
  // On a single processor a thread that computes for long would leave the database next to nothing.
  if (process.platform === 'linux' && availableParallelism() > 1) putBeforeOthers(process.pid);
  raiseSession();
}

/**
 * Real time in turns, of the first thread alone; threads and processes that it starts begin as usual. The kernel keeps a
 * twentieth of each processor for the others. A niceness does not do: a thread that has just computed waits until the others on its processor
 * have had their share of that, 20 ms and more where they are many.
 */
function putBeforeOthers(pid: number): void {
  const args = ['--reset-on-fork', '--rr', '--pid', String(REAL_TIME_PRIORITY), String(pid)];
  // Without util-linux the session's share has to do.
  spawn('chrt', args, { stdio: 'ignore' }).on('error', () => undefined);
}

/**
 * The kernel shares out the processors between sessions first (autogroup). Only a session that is the node's own is raised, as a service manager
 * or a container gives it one: a terminal's is its user's. What the node starts has sessions of its own, which begin with the
 * usual share.
 */
function raiseSession(): void {
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
