import { readFileSync } from 'node:fs';
import type { ProcessStarter } from '../starter/starter.ts';

/** The processors that a process may use, by number. */
type Cores = readonly number[];

/**
 * The later half of this node's processors, for processes that start, build or compute for long. On
 * a fully used processor, even a thread of higher priority waits for the next clock tick. So the
 * first half stays free of them. Undefined with one processor.
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
