import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessInfo {
  pid: number;
  parentPid: number;
  /** Command line, arguments separated by spaces. */
  command: string;
  /** User and system time of the process and of the children it has collected. */
  cpuMs: number;
  /** Kernel's start time: a pid and this name a process for good. */
  startTicks: number;
}

// Linux reports times in hundredths of a second, independent of the kernel's tick.
const MS_PER_TICK = 10;

/** `rootPid` and everything below it. Empty where there is no /proc. */
export function listProcessTree(rootPid: number): ProcessInfo[] {
  const byParent = Map.groupBy(listProcesses(), (info) => info.parentPid);
  const root = readProcess(rootPid);
  const tree = root === undefined ? [] : [root];
  for (const info of tree) tree.push(...(byParent.get(info.pid) ?? []));
  return tree;
}

function listProcesses(): ProcessInfo[] {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map((pid) => readProcess(Number(pid))).filter((info) => info !== undefined);
  } catch {
    // Not Linux: the figures by process are left out.
    return [];
  }
}

/** CPU time of the first thread of a process, which runs Node's event loop. */
export function mainThreadMs(pid: number): number {
  try {
    const { field } = readStat(`/proc/${pid}/task/${pid}/stat`);
    return (field(14) + field(15)) * MS_PER_TICK;
  } catch {
    return 0;
  }
}

/** Fields by their numbers in proc_pid_stat(5), from the third on. */
function readStat(file: string): { fields: string[]; field(number: number): number } {
  const stat = readFileSync(file, 'latin1');
  // The second is a name that may hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { fields, field: (number) => Number(fields[number - 3]) };
}

export function readProcess(pid: number): ProcessInfo | undefined {
  try {
    const { fields, field } = readStat(`/proc/${pid}/stat`);
    // A zombie has ended; only its parent has not taken notice yet.
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    const cpuTicks = field(14) + field(15) + field(16) + field(17);
    return { pid, parentPid: field(4), command, cpuMs: cpuTicks * MS_PER_TICK, startTicks: field(22) };
  } catch {
    // It has ended since it was listed.
    return undefined;
  }
}

const BYTES_PER_KB = 1_024;

/**
 * Memory of a process, as proc_pid_smaps_rollup(5) has it. `bytes`: a page that n processes share
 * counts one nth. `ownBytes`: pages that no other process has.
 */
export function memoryOf(pid: number): { bytes: number; ownBytes: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(text)?.[1]) * BYTES_PER_KB;
  return { bytes: field('Pss'), ownBytes: field('Private_Clean') + field('Private_Dirty') };
}

/** Whether it still runs: the very process, and not another one that was given its number. */
export function isRunning(info: ProcessInfo): boolean {
  return readProcess(info.pid)?.startTicks === info.startTicks;
}

export function killProcesses(processes: readonly ProcessInfo[]): void {
  for (const info of processes.filter(isRunning)) {
    try {
      process.kill(info.pid, 'SIGKILL');
    } catch {
      // It ended in between.
    }
  }
}
