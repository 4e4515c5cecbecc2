export interface FairCacheBounds {
  /** In any unit, of all entries together. */
  maxWeight: number;
  /** Default: any number. */
  maxCount?: number;
  /**
   * A new entry stays, however heavy, and evicts others. Default: false, it may be evicted at once.
   */
  keepsNewest?: boolean;
}

/** Entries of one account. */
interface Share<K, V> {
  accountId: string;
  count: number;
  weight: number;
  ring: Place<Entry<K, V>>;
}

/**
 * A place in a ring that is in the order of last use; the ring begins at the one that has no entry.
 * Not a Map in that order: its first key is slow to find where many before it were deleted.
 */
class Place<E> {
  readonly entry: E | undefined;
  #older: Place<E> = this;
  #newer: Place<E> = this;

  constructor(entry?: E) {
    this.entry = entry;
  }

  get oldest(): E | undefined {
    return this.#newer.entry;
  }

  leave(): void {
    this.#older.#newer = this.#newer;
    this.#newer.#older = this.#older;
    this.#older = this;
    this.#newer = this;
  }

  /** As the newest. */
  join(ring: Place<E>): void {
    this.leave();
    this.#older = ring.#older;
    this.#newer = ring;
    ring.#older.#newer = this;
    ring.#older = this;
  }
}

class Entry<K, V> {
  readonly share: Share<K, V>;
  readonly key: K;
  readonly value: V;
  weight = 0;
  readonly place: Place<Entry<K, V>> = new Place(this);
  readonly placeInShare: Place<Entry<K, V>> = new Place(this);

  constructor(share: Share<K, V>, key: K, value: V) {
    this.share = share;
    this.key = key;
    this.value = value;
  }
}

/**
 * Keeps the most recently used entries of all accounts, within bounds. Over a bound, accounts with
 * more than half of the weight or the count lose their own entries first, the largest account
 * first. An operation on one key takes constant time.
 */
export class FairCache<K, V> {
  readonly #bounds: Required<FairCacheBounds>;
  readonly #entries = new Map<K, Entry<K, V>>();
  readonly #ring = new Place<Entry<K, V>>();
  readonly #shares = new Map<string, Share<K, V>>();
  /** Those of more than half: a few at most. */
  readonly #large = new Set<Share<K, V>>();
  #weight = 0;

  constructor(bounds: FairCacheBounds) {
    this.#bounds = { maxCount: Number.POSITIVE_INFINITY, keepsNewest: false, ...bounds };
  }

  /** Counts as a use. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#use(entry);
    return entry?.value;
  }

  /** Replaces any entry of the key, also that of another account. */
  set(accountId: string, key: K, value: V, weight: number): void {
    this.delete(key);
    const share = this.#shares.get(accountId) ?? { accountId, count: 0, weight: 0, ring: new Place() };
    const entry = new Entry(share, key, value);
    this.#entries.set(key, entry);
    this.#use(entry);
    this.#count(entry, 1, weight);
    this.#makeRoom(this.#bounds.keepsNewest ? entry : undefined);
  }

  /**
   * For a weight that is known later than the value. Nothing happens where another value is in its
   * place by now; it is no use.
   */
  weigh(key: K, value: V, weight: number): void {
    const entry = this.#entries.get(key);
    if (entry?.value !== value) return;
    this.#count(entry, 0, weight - entry.weight);
    this.#makeRoom();
  }

  /** With `value`, only if the entry still has it. */
  delete(key: K, value?: V): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined && (value === undefined || entry.value === value)) this.#drop(entry);
  }

  deleteAccount(accountId: string): void {
    const ring = this.#shares.get(accountId)?.ring;
    for (let entry = ring?.oldest; entry !== undefined; entry = ring?.oldest) this.#drop(entry);
  }

  clear(): void {
    for (const entry of this.#entries.values()) this.#drop(entry);
  }

  #use({ place, placeInShare, share }: Entry<K, V>): void {
    place.join(this.#ring);
    placeInShare.join(share.ring);
  }

  #drop(entry: Entry<K, V>): void {
    this.#entries.delete(entry.key);
    entry.place.leave();
    entry.placeInShare.leave();
    this.#count(entry, -1, -entry.weight);
  }

  #count(entry: Entry<K, V>, number: number, weight: number): void {
    const { share } = entry;
    for (const sum of [entry, share]) sum.weight += weight;
    this.#weight += weight;
    share.count += number;
    if (this.#partOf(share) > 0.5) this.#large.add(share);
    else this.#large.delete(share);
    if (share.count === 0) this.#shares.delete(share.accountId);
    else this.#shares.set(share.accountId, share);
  }

  #partOf({ count, weight }: Share<K, V>): number {
    return Math.max(count / this.#bounds.maxCount, weight / this.#bounds.maxWeight);
  }

  #makeRoom(newest?: Entry<K, V>): void {
    const { maxCount, maxWeight } = this.#bounds;
    while (this.#entries.size > maxCount || this.#weight > maxWeight) {
      const [greedy] = [...this.#large]
        .filter((share) => share !== newest?.share || share.count > 1)
        .sort((a, b) => this.#partOf(b) - this.#partOf(a));
      // The newest entry is the oldest of a ring only if it is alone there.
      const { oldest } = greedy?.ring ?? this.#ring;
      if (oldest === undefined || oldest === newest) return;
      this.#drop(oldest);
    }
  }
}
