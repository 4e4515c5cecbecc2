import type { Claim } from './invocations.sql.ts';
import type { HeldInvocation } from '../events/index.ts';
import { kept } from './kept-requests.ts';

/**
 * The claim of each invocation that this node holds: one at a time. Two claims of one invocation
 * would run it twice, and their commits would meet in one batch. A node can get a second claim in
 * two ways. It was declared dead while it was slow, and claims under its new id an invocation that
 * it still runs. Or the answer to a claim comes after the row was given back.
 *
 * States of a claim: held (from `admit`), lost (a newer claim or another node has the row; from
 * then on it writes nothing), ended. A newer claim waits until the one before has ended.
 */
export interface HeldClaims {
  /** Those that may be queued now. A client of the others is told that they are kept. */
  admit(invocations: readonly HeldInvocation[]): HeldInvocation[];
  /** Fires when the claim is lost. */
  lostSignal(invocation: HeldInvocation): AbortSignal;
  isLost(invocation: HeldInvocation): boolean;
  /** Answers the newer claim that has waited for this end. */
  end(invocation: HeldInvocation): HeldInvocation | undefined;
  has(id: string): boolean;
  /**
   * They are given back without having been held: an answer that comes late for them is not
   * admitted.
   */
  refuse(claims: readonly Claim[]): void;
  /** The node was declared dead under this id: other nodes may have its claims by now. */
  loseNode(nodeId: string): void;
}

interface Held {
  invocation: HeldInvocation;
  isLost: boolean;
  lost?: AbortController;
  next?: HeldInvocation;
}

/** A database that does not answer is given up long before as many were given back. */
const MAX_REFUSED = 10_000;
const ELSEWHERE = kept('This node was too slow; the request is kept and runs later, or on another node');

export function createHeldClaims(): HeldClaims {
  const held = new Map<string, Held>();
  const refused = new Map<string, number>();
  const lostNodes = new Set<string>();

  function lose(one: Held): void {
    one.isLost = true;
    one.lost?.abort();
  }

  function isOver({ id, claim, leasedBy }: HeldInvocation): boolean {
    return lostNodes.has(leasedBy) || (refused.get(id) ?? 0) >= claim;
  }

  function admitOne(invocation: HeldInvocation): boolean {
    if (isOver(invocation)) return leave(invocation);
    const { id } = invocation;
    const before = held.get(id);
    if (before === undefined) {
      held.set(id, { invocation, isLost: false });
      return true;
    }
    const newest = before.next ?? before.invocation;
    if (invocation.claim < newest.claim || isSame(invocation, newest)) return leave(invocation);
    if (before.next !== undefined) leave(before.next);
    before.next = invocation;
    lose(before);
    return false;
  }

  return {
    admit: (invocations) => invocations.filter(admitOne),
    lostSignal(invocation) {
      const one = held.get(invocation.id);
      if (one?.invocation !== invocation) return AbortSignal.abort();
      one.lost ??= new AbortController();
      if (one.isLost) one.lost.abort();
      return one.lost.signal;
    },
    isLost: (invocation) => held.get(invocation.id)?.isLost === true,
    end({ id }) {
      const next = held.get(id)?.next;
      held.delete(id);
      return next;
    },
    has: (id) => held.has(id),
    refuse(claims) {
      for (const { id, claim } of claims) {
        refused.delete(id);
        refused.set(id, claim);
      }
      for (const [oldest] of refused) {
        if (refused.size <= MAX_REFUSED) break;
        refused.delete(oldest);
      }
    },
    loseNode(nodeId) {
      lostNodes.add(nodeId);
      for (const one of held.values()) if (one.invocation.leasedBy === nodeId) lose(one);
    },
  };
}

function isSame(a: HeldInvocation, b: HeldInvocation): boolean {
  return a.claim === b.claim && a.leasedBy === b.leasedBy;
}

function leave({ respond }: HeldInvocation): false {
  respond?.(ELSEWHERE);
  return false;
}
