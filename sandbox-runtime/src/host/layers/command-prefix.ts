import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program and its first arguments, before which a command is put to be confined by it. Empty: there is no way here. */
export type Prefix = readonly string[];

const PROBE_MS = 5_000;

/**
 * The first of the ways that works behind `outer` on this system, found by doing it. The programs are those of util-linux
 * and coreutils; without one, or where the system forbids what it does, the way does not work.
 */
export async function findWay(outer: Prefix, ways: readonly Prefix[]): Promise<Prefix> {
  for (const way of ways) if (await works([...outer, ...way, 'true'])) return way;
  return [];
}

/** Whether the command ends well within five seconds; `descriptors` are its open files from number 4 on. */
export async function works(command: Prefix, descriptors: readonly number[] = []): Promise<boolean> {
  const [program = '', ...args] = command;
  try {
    const probe = spawn(program, args, {
      // As a sandbox process is started: programs are looked for where the system has its own.
      env: {},
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', 'ignore', ...descriptors],
      timeout: PROBE_MS,
      killSignal: 'SIGKILL',
    });
    const [code] = (await once(probe, 'close')) as [number | null];
    return code === 0;
  } catch {
    // The program is not installed.
    return false;
  }
}

/** Whether a process behind the prefix can be killed from here. Where it cannot, it ends by itself. */
export async function canKill(prefix: Prefix): Promise<boolean> {
  const [program, ...args] = [...prefix, 'cat'];
  const probe = spawn(program, args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] });
  const end = (): void => void probe.stdin.end();
  const timer = setTimeout(end, PROBE_MS);
  probe.on('error', end);
  // Of one that has ended already.
  probe.stdin.on('error', () => undefined).write('.');
  // It answers once it has become what the prefix makes of it.
  probe.stdout.once('data', () => {
    probe.kill('SIGKILL');
    end();
  });
  try {
    const [, signal] = (await once(probe, 'close')) as [number | null, NodeJS.Signals | null];
    return signal === 'SIGKILL';
  } catch {
    // The system has refused, or a program is not installed.
    return false;
  } finally {
    clearTimeout(timer);
  }
}
