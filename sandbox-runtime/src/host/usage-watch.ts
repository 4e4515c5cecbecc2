import { CpuPriority } from './layers/cpu-priority.ts';
import { readUsage } from './read-usage.ts';

/** Part of its memory over which a process takes no new runs. */
const FULL = 0.7;

/** What a look at a process asks for: nothing, another one for the runs to come, or its end. */
export type UsageVerdict = 'fine' | 'replace' | 'end';

/** Looks at what a process takes of the machine: its memory is bounded, and computing for long lowers its priority. */
export class UsageWatch {
  readonly #pid: number | undefined;
  readonly #maxRssMb: number;
  readonly #priority: CpuPriority | undefined;
  #looking = false;

  constructor(pid: number | undefined, maxRssMb: number) {
    this.#pid = pid;
    this.#maxRssMb = maxRssMb;
    this.#priority = pid === undefined ? undefined : new CpuPriority(pid);
  }

  /** Its priority was lowered, and is to be given back. */
  get isHot(): boolean {
    return this.#priority?.isHot === true;
  }

  runEnded(cpuMs: number): void {
    this.#priority?.runEnded(cpuMs);
  }

  /** Never rejects. A look while another one is under way finds nothing. */
  async look(nowMs: number): Promise<UsageVerdict> {
    if (this.#looking) return 'fine';
    this.#looking = true;
    const usage = await readUsage(this.#pid);
    this.#looking = false;
    if (usage === undefined) return 'fine';
    if (usage.rssMb > this.#maxRssMb) return 'end';
    const keepsPriority = this.#priority?.look(nowMs, usage.cpuMs) !== false;
    return keepsPriority && usage.rssMb <= this.#maxRssMb * FULL ? 'fine' : 'replace';
  }
}
