import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** The kernel counts processor time for /proc in hundredths of a second on every platform that Node runs on. */
const TICK_MS = 10;

/** What a process takes: resident memory, and processor time since its start. */
export interface ProcessUsage {
  rssMb: number;
  cpuMs: number;
}

/** From /proc; undefined where there is none (macOS), and the isolates' own limits have to do, and for a process that is gone. */
export async function readUsage(pid: number | undefined): Promise<ProcessUsage | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name of the program comes before and may contain anything. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const field = (number: number): number => Number(fields[number - 3]);
    return { rssMb: (field(24) * pageBytes()) / 2 ** 20, cpuMs: (field(14) + field(15)) * TICK_MS };
  } catch {
    // The process is gone, or the platform has no /proc.
    return undefined;
  }
}

let knownPageBytes: number | undefined;

/** Pages have 4, 16 or 64 KB, which Node does not tell: its own size in bytes over that in pages, which change meanwhile. */
function pageBytes(): number {
  if (knownPageBytes === undefined) {
    const pages = Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1]);
    knownPageBytes = 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages));
  }
  return knownPageBytes;
}
