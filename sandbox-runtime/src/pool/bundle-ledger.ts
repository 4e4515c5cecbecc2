const MAX_BUNDLES = 64;
const MAX_CODE_CHARS = 32 * 1024 * 1024;

/**
 * Which bundles a process holds: each is sent once, and the least recently used are dropped when
 * they become too many.
 */
export class BundleLedger {
  readonly #sizes = new Map<string, number>();
  #total = 0;
  /** Whether the bundle of the last `take` has to be sent first. */
  isNew = false;

  /** Notes a use; returns the hashes of bundles that are to be dropped. */
  take(hash: string, chars: number): string[] {
    this.isNew = !this.#sizes.has(hash);
    if (this.isNew) this.#total += chars;
    this.#sizes.delete(hash);
    this.#sizes.set(hash, chars);
    const dropped: string[] = [];
    for (const [oldest, size] of this.#sizes) {
      if ((this.#sizes.size <= MAX_BUNDLES && this.#total <= MAX_CODE_CHARS) || oldest === hash) break;
      this.#sizes.delete(oldest);
      this.#total -= size;
      dropped.push(oldest);
    }
    return dropped;
  }
}
