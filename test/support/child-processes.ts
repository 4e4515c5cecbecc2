import { readdirSync, readFileSync } from 'node:fs';

export interface ChildProcess {
  pid: number;
  environment: string;
  arguments: string[];
}

/** Sandbox processes that a process (by default this one) has started and that are not gone yet. Linux only. */
export function childProcesses(ofPid: number = process.pid): ChildProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
        if (Number(parent) !== ofPid || !words.some((word) => word.includes('hw-sandbox'))) return [];
        return [{ pid: Number(name), environment: readFileSync(`/proc/${name}/environ`, 'utf8'), arguments: words }];
      } catch {
        // It ended while it was looked at.
        return [];
      }
    });
}
