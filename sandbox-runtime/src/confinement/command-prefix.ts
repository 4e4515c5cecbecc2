import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * A program and its first arguments, before which a command is put to be confined by it. Empty:
 * there is no way here.
 */
export type Prefix = readonly string[];

export const PROBE_MS = 5_000;

/**
 * The first command prefix that works behind `outer` on this system; each is tried. They use
 * util-linux and coreutils. A prefix fails if a program is missing or the system forbids its
 * action.
 */
export async function findWay(outer: Prefix, ways: readonly Prefix[]): Promise<Prefix> {
  for (const way of ways) if (await works([...outer, ...way, 'true'])) return way;
  return [];
}

/**
 * The same for each layer, behind those before it. Most systems let the first way of every layer
 * work, which one try shows: each try is a process, one after the other.
 */
export async function findWays(layers: readonly (readonly Prefix[])[]): Promise<Prefix[]> {
  const first = layers.map(([way = []]) => way);
  if (await works([...first.flat(), 'true'])) return first;
  const found: Prefix[] = [];
  for (const ways of layers) found.push(await findWay(found.flat(), ways));
  return found;
}

/**
 * Whether the command ends well within five seconds; `descriptors` are its open files from number 4
 * on.
 */
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

/**
 * Whether a command behind the prefix has no capability. Dropping them can succeed without effect:
 * root without CAP_SETPCAP keeps its own.
 */
export function hasNoCapabilities(prefix: Prefix): Promise<boolean> {
  return works([...prefix, 'grep', '-Eq', '^CapPrm:[[:space:]]*0+$', '/proc/self/status']);
}
