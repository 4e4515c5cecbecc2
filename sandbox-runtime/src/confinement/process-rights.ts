import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { PROBE_MS, type Prefix, works } from './command-prefix.ts';
import { coresCommand, findHotCores, ownCores } from './cpu-cores.ts';
import { hasSessionShares } from './session-shares.ts';

/**
 * Rights of this node over its sandbox processes, which may run as other users. A probe process,
 * started the same way, shows them.
 */
export interface ProcessRights {
  kill: boolean;
  /** To change the share of its session, where sessions have shares. */
  session: boolean;
  /** To make its threads less urgent, where that counts for others, */
  lower: boolean;
  /** and as urgent as before. */
  raise: boolean;
  /** To keep it to half of the processors, and to give it the others back. */
  cores: boolean;
  /** To have the kernel take it first when memory runs out. */
  oomScore: boolean;
}

export const NO_RIGHTS: ProcessRights = {
  kill: false,
  session: false,
  lower: false,
  raise: false,
  cores: false,
  oomScore: false,
};

const LEAST_URGENT = 19;

/** None where nothing can be started behind the prefix. */
export async function findRights(prefix: Prefix): Promise<ProcessRights> {
  const [program, ...args] = [...prefix, 'cat'];
  // In a session of its own, like sandbox processes.
  const probe = spawn(program, args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  // The system has refused, or a program is not installed.
  const ended = once(probe, 'close').catch(() => []);
  // It answers once it has become what the prefix makes of it.
  const isUp = once(probe.stdout, 'data').then(() => true);
  // Ignores the write error of a probe that already ended.
  probe.stdin.on('error', () => undefined).write('.');
  const timer = setTimeout(() => probe.stdin.end(), PROBE_MS);
  const answered = await Promise.race([isUp, ended.then(() => false)]);
  const rights = answered && probe.pid !== undefined ? await tryOn(probe.pid) : NO_RIGHTS;
  probe.kill('SIGKILL');
  // Closing its input ends the probe if the signal is refused.
  probe.stdin.end();
  const [, signal] = await ended;
  clearTimeout(timer);
  return { ...rights, kill: answered && signal === 'SIGKILL' };
}

async function tryOn(pid: number): Promise<Omit<ProcessRights, 'kill'>> {
  const sessionsCount = hasSessionShares();
  const session = sessionsCount && mayWrite(`/proc/${pid}/autogroup`, 1);
  // In a session with a fixed share, a thread's niceness has no effect on other sessions.
  const threadsCount = session || !sessionsCount;
  const nice = getPriority(pid);
  const lower = threadsCount && maySetPriority(pid, Math.min(nice + 1, LEAST_URGENT));
  const raise = lower && maySetPriority(pid, nice);
  return {
    session,
    lower,
    raise,
    cores: await maySetCores(pid),
    oomScore: mayWrite(`/proc/${pid}/oom_score_adj`, 1_000),
  };
}

async function maySetCores(pid: number): Promise<boolean> {
  const half = findHotCores();
  if (half === undefined) return false;
  return (await works(coresCommand(pid, half))) && (await works(coresCommand(pid, ownCores())));
}

function maySetPriority(pid: number, nice: number): boolean {
  try {
    setPriority(pid, nice);
    return true;
  } catch {
    return false;
  }
}

function mayWrite(path: string, value: number): boolean {
  try {
    writeFileSync(path, String(value));
    return true;
  } catch (error) {
    // The kernel limits how often a non-root user may change sessions. EAGAIN means that the limit
    // is reached, not that the right is missing.
    return (error as NodeJS.ErrnoException).code === 'EAGAIN';
  }
}
