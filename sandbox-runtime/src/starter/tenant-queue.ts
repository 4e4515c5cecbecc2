const ONLY_LINE = '';

/**
 * Work that waits: one after the other between tenants, first in, first out within a line of one. A
 * tenant that has several lines has one turn for all of them.
 */
export class TenantQueue<T> {
  readonly #waiting = new Map<string, Map<string, T[]>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(tenantId: string, item: T, line = ONLY_LINE): void {
    const lines = this.#waiting.get(tenantId) ?? new Map<string, T[]>();
    this.#waiting.set(tenantId, lines);
    const own = lines.get(line);
    if (own === undefined) lines.set(line, [item]);
    else own.push(item);
    this.#size += 1;
  }

  countOf(tenantId: string, line = ONLY_LINE): number {
    return this.#waiting.get(tenantId)?.get(line)?.length ?? 0;
  }

  /** The first of each line. */
  *firsts(): Generator<T> {
    for (const lines of this.#waiting.values()) for (const own of lines.values()) yield own[0] as T;
  }

  /**
   * Offers each tenant's first item in turn, until a whole round takes none. A served tenant goes
   * behind the others, and the served line behind the tenant's other lines.
   */
  serve(tryServe: (item: T) => boolean): void {
    let served = true;
    while (served && this.#size > 0) {
      served = false;
      for (const [tenantId, lines] of Array.from(this.#waiting)) {
        if (!this.#serveOne(lines, tryServe)) continue;
        served = true;
        this.#waiting.delete(tenantId);
        if (lines.size > 0) this.#waiting.set(tenantId, lines);
      }
    }
  }

  #serveOne(lines: Map<string, T[]>, tryServe: (item: T) => boolean): boolean {
    for (const [line, own] of lines) {
      if (!tryServe(own[0] as T)) continue;
      own.shift();
      this.#size -= 1;
      lines.delete(line);
      if (own.length > 0) lines.set(line, own);
      return true;
    }
    return false;
  }

  /** Takes out what matches, wherever it stands. */
  remove(matches: (item: T) => boolean): T[] {
    const removed: T[] = [];
    for (const [tenantId, lines] of this.#waiting) {
      for (const [line, own] of lines) {
        const kept: T[] = [];
        for (const item of own) (matches(item) ? removed : kept).push(item);
        if (kept.length > 0) lines.set(line, kept);
        else lines.delete(line);
      }
      if (lines.size === 0) this.#waiting.delete(tenantId);
    }
    this.#size -= removed.length;
    return removed;
  }

  drain(): T[] {
    return this.remove(() => true);
  }
}
