import { type ExceededLimit, LIMITS } from '@headwater/shared';

export interface DbSize {
  /** Bytes of all entries of the store. */
  bytes: number;
  /** Bytes of the entry of a key; absent if there is no entry. */
  byKey: Map<string, number>;
}

/** Limits of the account, and what all of its stores hold before. */
export interface DbRoom {
  maxDbBytes: number;
  maxAllDbBytes: number;
  allBytes: number;
}

export interface AcceptedDbWrites {
  kept: Map<string, string>;
  /** Growth of the store; negative if it shrinks. */
  growth: number;
  exceeded: ExceededLimit | undefined;
}

/**
 * Bytes of an entry, as they count for maxDbBytes: a million tiny values is no small store. One
 * that is deleted takes none.
 */
function dbEntryBytes(key: string, valueJson: string): number {
  if (valueJson === '') return 0;
  return Buffer.byteLength(key) + Buffer.byteLength(valueJson) + LIMITS.dbEntryOverheadBytes;
}

/**
 * The values that a run may store, in the order in which it set them. One that would make the
 * store, or all stores of the account, larger than they may be is left out; those that make nothing
 * larger always fit, so that a full store can shrink. `size` becomes that of the store with them.
 */
export function acceptDbWrites(writes: ReadonlyMap<string, string>, size: DbSize, room: DbRoom): AcceptedDbWrites {
  const kept = new Map<string, string>();
  const before = size.bytes;
  let exceeded: ExceededLimit | undefined;
  for (const [key, valueJson] of writes) {
    const entryBytes = dbEntryBytes(key, valueJson);
    const growth = entryBytes - (size.byKey.get(key) ?? 0);
    const over =
      growth > 0 ? limitOver(room, size.bytes + growth, room.allBytes + size.bytes - before + growth) : undefined;
    if (over !== undefined) {
      if (exceeded === undefined || (over.name === exceeded.name && over.used > exceeded.used)) exceeded = over;
      continue;
    }
    size.bytes += growth;
    size.byKey.set(key, entryBytes);
    kept.set(key, valueJson);
  }
  return { kept, growth: size.bytes - before, exceeded };
}

function limitOver({ maxDbBytes, maxAllDbBytes }: DbRoom, bytes: number, allBytes: number): ExceededLimit | undefined {
  if (bytes > maxDbBytes) return { name: 'maxDbBytes', value: maxDbBytes, used: bytes };
  return allBytes > maxAllDbBytes ? { name: 'maxAllDbBytes', value: maxAllDbBytes, used: allBytes } : undefined;
}
