import { readdirSync, readFileSync } from 'node:fs';

export interface ChildProcess {
  pid: number;
  environment: string;
  arguments: string[];
}

/**
 * Processes of that title that were started for a process (by default this one) and that are not
 * gone yet. Linux only.
 */
export function childProcesses(ofPid: number = process.pid, title = 'hw-sandbox'): ChildProcess[] {
  const all = allProcesses();
  const startersOf = all.filter(({ parent, words }) => parent === ofPid && isNamed(words, 'hw-starter'));
  const starters = new Set(startersOf.map(({ pid }) => pid));
  return all
    .filter(({ parent, words }) => starters.has(parent) && isNamed(words, title))
    .flatMap(({ pid, words }) => {
      try {
        return [{ pid, environment: readFileSync(`/proc/${pid}/environ`, 'utf8'), arguments: words }];
      } catch {
        // As above.
        return [];
      }
    });
}

/** Its own children with such a word among their arguments. Linux only. */
export function childProcessIds(ofPid: number, word: string): number[] {
  return allProcesses()
    .filter(({ parent, words }) => parent === ofPid && words.includes(word))
    .map(({ pid }) => pid);
}

function allProcesses(): { pid: number; parent: number; words: string[] }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
        return [{ pid: Number(name), parent: Number(parent), words }];
      } catch {
        // It ended while it was looked at.
        return [];
      }
    });
}

function isNamed(words: readonly string[], name: string): boolean {
  return words.some((word) => word.includes(name));
}
