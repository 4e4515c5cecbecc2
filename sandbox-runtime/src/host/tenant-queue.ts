/** Work that waits: first in, first out within a tenant, one after the other between tenants. */
export class TenantQueue<T> {
  readonly #waiting = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(tenantId: string, item: T): void {
    const own = this.#waiting.get(tenantId);
    if (own === undefined) this.#waiting.set(tenantId, [item]);
    else own.push(item);
    this.#size += 1;
  }

  has(tenantId: string): boolean {
    return this.#waiting.has(tenantId);
  }

  countOf(tenantId: string): number {
    return this.#waiting.get(tenantId)?.length ?? 0;
  }

  count(matches: (item: T) => boolean): number {
    let count = 0;
    // One process serves all of a tenant's ordinary work, so only its first item counts.
    for (const [first] of this.#waiting.values()) if (first !== undefined && matches(first)) count += 1;
    return count;
  }

  /**
   * Offers the first item of each tenant in turn until a whole round takes nothing. A tenant that was served goes behind
   * the others.
   */
  serve(tryServe: (item: T) => boolean): void {
    let served = true;
    while (served && this.#size > 0) {
      served = false;
      for (const [tenantId, own] of Array.from(this.#waiting)) {
        const first = own[0];
        if (first === undefined || !tryServe(first)) continue;
        served = true;
        own.shift();
        this.#size -= 1;
        this.#waiting.delete(tenantId);
        if (own.length > 0) this.#waiting.set(tenantId, own);
      }
    }
  }

  drain(): T[] {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#size = 0;
    return all;
  }
}
