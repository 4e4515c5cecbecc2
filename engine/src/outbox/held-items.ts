interface Share {
  count: number;
  bytes: number;
}

/** Outgoing items that this node holds, from lease to recorded attempt, in total and by tenant. */
export interface HeldItems<T> {
  add(item: T): void;
  remove(item: T): void;
  of(accountId: string): Readonly<Share>;
  bytes(): number;
  has(id: string): boolean;
}

const NOTHING: Share = { count: 0, bytes: 0 };

export function createHeldItems<T extends { accountId: string }>(
  bytesOf: (item: T) => number,
  idOf: (item: T) => string,
): HeldItems<T> {
  /** One that was taken again before its first attempt was recorded is held twice. */
  const ids = new Map<string, number>();
  const shares = new Map<string, Share>();
  let bytes = 0;

  function count(item: T, by: 1 | -1): void {
    const { accountId } = item;
    const itemBytes = bytesOf(item);
    bytes += by * itemBytes;
    const times = (ids.get(idOf(item)) ?? 0) + by;
    if (times === 0) ids.delete(idOf(item));
    else ids.set(idOf(item), times);
    const share = shares.get(accountId) ?? { count: 0, bytes: 0 };
    share.count += by;
    share.bytes += by * itemBytes;
    if (share.count === 0) shares.delete(accountId);
    else shares.set(accountId, share);
  }

  return {
    add: (item) => count(item, 1),
    remove: (item) => count(item, -1),
    of: (accountId) => shares.get(accountId) ?? NOTHING,
    bytes: () => bytes,
    has: (id) => ids.has(id),
  };
}
