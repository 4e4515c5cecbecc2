import { readFileSync } from 'node:fs';

/**
 * The kernel counts processor time for /proc in hundredths of a second on every platform that Node
 * runs on.
 */
const TICK_MS = 10;

/** Memory of a process, and CPU time since its start. */
export interface ProcessUsage {
  /** Resident, swapped out, or used for its page tables. */
  memoryMb: number;
  cpuMs: number;
}

/**
 * From /proc; undefined where there is none (macOS), and the isolates' own limits have to do, and
 * for a process that is gone. Both are read at once, which takes the thread 10 µs: to have one read
 * on another thread took it 26, and waited behind whatever else is read there.
 */
export function readUsage(pid: number): ProcessUsage | undefined {
  try {
    return {
      memoryMb: memoryKb(readFileSync(`/proc/${pid}/status`, 'utf8')) / 1_024,
      cpuMs: cpuMs(readFileSync(`/proc/${pid}/stat`, 'utf8')),
    };
  } catch {
    // The process is gone, or the platform has no /proc.
    return undefined;
  }
}

// Each page table maps 2 MB, of which nothing has to be resident: who reads a byte of each fills
// the memory with tables alone.
function memoryKb(status: string): number {
  const parts = status.matchAll(/^Vm(?:RSS|Swap|PTE):\s*(\d+) kB$/gm);
  return parts.reduce((sum, [, kb]) => sum + Number(kb), 0);
}

function cpuMs(stat: string): number {
  // The name of the program comes before and may contain anything.
  // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  return (field(14) + field(15)) * TICK_MS;
}
