import { type ExceededLimit, LIMITS } from '@headwater/shared';

export interface DbSize {
  /** What all entries of the store take. */
  bytes: number;
  /** What the entry of a key takes; absent: there is none. */
  byKey: Map<string, number>;
}

export interface FittedDbWrites {
  kept: Map<string, string>;
  exceeded: ExceededLimit | undefined;
}

/** Bytes of an entry, as they count for maxDbBytes: a million tiny values is no small store. One that is deleted takes none. */
function dbEntryBytes(key: string, valueJson: string): number {
  if (valueJson === '') return 0;
  return Buffer.byteLength(key) + Buffer.byteLength(valueJson) + LIMITS.dbEntryOverheadBytes;
}

/**
 * The values that a run may store, in the order in which it set them. One that would make the store larger than
 * `maxBytes` is left out; those that make nothing larger always fit, so that a full store can shrink. `size` becomes that
 * of the store with them.
 */
export function fitDbWrites(writes: ReadonlyMap<string, string>, size: DbSize, maxBytes: number): FittedDbWrites {
  const kept = new Map<string, string>();
  let used = 0;
  for (const [key, valueJson] of writes) {
    const entryBytes = dbEntryBytes(key, valueJson);
    const growth = entryBytes - (size.byKey.get(key) ?? 0);
    if (growth > 0 && size.bytes + growth > maxBytes) {
      used = Math.max(used, size.bytes + growth);
      continue;
    }
    size.bytes += growth;
    size.byKey.set(key, entryBytes);
    kept.set(key, valueJson);
  }
  return { kept, exceeded: used === 0 ? undefined : { name: 'maxDbBytes', value: maxBytes, used } };
}
