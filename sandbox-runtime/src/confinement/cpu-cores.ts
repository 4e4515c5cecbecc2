import { readFileSync } from 'node:fs';
import type { ProcessStarter } from '../starter/starter.ts';

/** The processors that a process may use, by number. */
type Cores = readonly number[];

/**
 * The processors for processes that start, build or compute for long: the later half of this
 * node's. A full processor makes even whoever goes before wait for the clock's next tick, so the
 * others are kept free of them. Undefined where there is no half.
 */
export function findHotCores(all = ownCores()): Cores | undefined {
  return all.length < 2 ? undefined : all.slice(Math.floor(all.length / 2));
}

/** Undone by giving `ownCores`. Does nothing without util-linux; the niceness has to do then. */
export function setCores(starter: Pick<ProcessStarter, 'command'>, pid: number, cores: Cores): void {
  const [program, ...args] = coresCommand(pid, cores);
  starter.command(program, args);
}

/** Command that sets the cores of all threads of a process. */
export function coresCommand(pid: number, cores: Cores): [program: string, ...args: string[]] {
  return ['taskset', '-a', '-p', '-c', cores.join(','), String(pid)];
}

export function ownCores(): Cores {
  try {
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
    return parseCores(list);
  } catch {
    // Not Linux.
    return [];
  }
}

/** `0-2,5` */
export function parseCores(list: string): Cores {
  return list.split(',').flatMap((part) => {
    const [from = Number.NaN, to = from] = part.split('-').map(Number);
    return from >= 0 && to >= from ? Array.from({ length: to - from + 1 }, (_, i) => from + i) : [];
  });
}
