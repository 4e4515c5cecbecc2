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
 * Reads /proc; undefined without it (macOS, where only the isolates' own limits apply) and for an
 * ended process. The synchronous read takes the thread 10 µs. A read on another thread took it 26
 * µs, and waited for other reads there.
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

// Each page table maps 2 MB, of which no page needs to be resident. Code that reads one byte of
// each fills the memory with tables alone.
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
