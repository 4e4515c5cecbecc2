interface Held<Slot> {
  slot: Slot;
  weight: number;
}

interface Share {
  count: number;
  weight: number;
}

/** What a node remembers of connected accounts, by their ids; bounded in number and in weight. The least recently used goes first. */
export interface AuthSlots<Slot> {
  /** Counts as a use. */
  get(id: string): Slot | undefined;
  set(id: string, slot: Slot): void;
  /** What is known of its weight once it has loaded; nothing where another slot is in its place by now. */
  weigh(id: string, slot: Slot, weight: number): void;
  /** With `slot` only where it is still that one. */
  drop(id: string, slot?: Slot): void;
  dropAll(): void;
}

export interface SlotBounds {
  maxCount: number;
  maxWeight: number;
}

/** While one account has more than half of the number or of the weight, only slots of its own make room. */
export function createAuthSlots<Slot extends { accountId: string }>(bounds: SlotBounds): AuthSlots<Slot> {
  // In the order of their last use.
  const held = new Map<string, Held<Slot>>();
  const shares = createShares(bounds);

  function drop(id: string, slot?: Slot): void {
    const found = held.get(id);
    if (found === undefined || (slot !== undefined && found.slot !== slot)) return;
    held.delete(id);
    shares.add(found.slot.accountId, -1, -found.weight);
  }

  function makeRoom(): void {
    while (shares.areTooMuch()) {
      const greedy = shares.accountWithMost();
      for (const [id, { slot }] of held) {
        if (greedy !== undefined && slot.accountId !== greedy) continue;
        drop(id);
        break;
      }
    }
  }

  return {
    get(id) {
      const found = held.get(id);
      if (found === undefined) return undefined;
      held.delete(id);
      held.set(id, found);
      return found.slot;
    },
    set(id, slot) {
      drop(id);
      held.set(id, { slot, weight: 0 });
      shares.add(slot.accountId, 1, 0);
      makeRoom();
    },
    weigh(id, slot, weight) {
      const found = held.get(id);
      if (found?.slot !== slot) return;
      shares.add(slot.accountId, 0, weight - found.weight);
      found.weight = weight;
      makeRoom();
    },
    drop,
    dropAll() {
      for (const id of held.keys()) drop(id);
    },
  };
}

/** What each account has of the slots. */
function createShares({ maxCount, maxWeight }: SlotBounds) {
  const shares = new Map<string, Share>();
  const all: Share = { count: 0, weight: 0 };
  return {
    add(accountId: string, count: number, weight: number): void {
      const share = shares.get(accountId) ?? { count: 0, weight: 0 };
      for (const sum of [share, all]) {
        sum.count += count;
        sum.weight += weight;
      }
      if (share.count === 0) shares.delete(accountId);
      else shares.set(accountId, share);
    },
    areTooMuch: () => all.count > maxCount || all.weight > maxWeight,
    /** Undefined where none has more than half. */
    accountWithMost(): string | undefined {
      for (const [accountId, { count, weight }] of shares) {
        if (count > maxCount / 2 || weight > maxWeight / 2) return accountId;
      }
      return undefined;
    },
  };
}
