import { LIMITS } from '@headwater/shared';
import type { DeliveryResult } from '../../engine/src/outbox/deliveries/record-attempts.sql.ts';
import type { LeaseMove } from './lease-moves.ts';
import type { DeliveryState, InvocationState, LeaseRows } from './lease-states.ts';
import type { LeaseNode } from './lease-world.ts';

/* Legal moves of a row in the model of leases, and invariants of all rows. */

/** Memory of the actor before its move. */
export interface LeaseMemory {
  id: string;
  runs: Map<string, { leasedBy: string; claim: number }>;
  deliveries: Set<string>;
  recorded: DeliveryResult[];
}

export const remember = (actor: LeaseNode): LeaseMemory => ({
  id: actor.id,
  runs: new Map(actor.runs),
  deliveries: new Set(actor.deliveries.keys()),
  recorded: [],
});

interface RunChange {
  id: string;
  was: InvocationState | undefined;
  is: InvocationState | undefined;
  wasEnded: boolean;
  hasEnded: boolean;
  /** It was given up, and is kept. */
  wasAbandoned: boolean;
  isAbandoned: boolean;
  /** The claim under which it was given up. */
  abandonedClaim: number | undefined;
  /** The deletion of its source has begun. */
  isDoomed: boolean;
  /** The move lost its connection. */
  wasCut: boolean;
  isDead: (holder: string) => boolean;
}

export function isLegalRun(kind: LeaseMove['kind'], memory: LeaseMemory, change: RunChange): boolean {
  const { id, was, is, isDoomed } = change;
  if (change.wasEnded) return false;
  if (change.wasAbandoned) {
    if (is === undefined) return isDoomed && kind === 'delete';
    return kind === 'retry' && !change.isAbandoned && isQueuedAnew(is, change.abandonedClaim);
  }
  if (was === undefined) {
    const isNew = is?.holder === null ? isQueuedAnew(is, 0) : is?.holder === memory.id && is.claim === 1;
    return kind === 'accept' && isNew;
  }
  const mine = memory.runs.get(id);
  const isMine = was.holder !== null && mine?.leasedBy === was.holder && mine.claim === was.claim;
  if (change.hasEnded) return kind === 'commit' && is === undefined && isMine;
  if (change.isAbandoned) return kind === 'crash-alone' && is === undefined && isMine;
  if (is === undefined) return isDoomed && (kind === 'delete' || (kind === 'work' && was.holder === null));
  if (kind === 'crash-alone') {
    // A node that has not heard of the last count makes one more.
    const most = Math.max(LIMITS.maxInvocationAttempts, was.crashes + 1);
    const isCounted =
      is.crashes > was.crashes && (change.wasCut ? is.crashes <= most : is.crashes < LIMITS.maxInvocationAttempts);
    return isMine && isCounted && isSameLease(was, is);
  }
  return is.crashes === was.crashes && isLegalLease(kind, memory, { was, is, isMine, mine, isDead: change.isDead });
}

const isQueuedAnew = (is: InvocationState, claim: number | undefined) =>
  is.holder === null && is.claim === claim && is.attempts + is.crashes === 0;

const isSameLease = (was: InvocationState, is: InvocationState) =>
  is.holder === was.holder && is.claim === was.claim && is.attempts === was.attempts;

function isLegalLease(
  kind: LeaseMove['kind'],
  memory: LeaseMemory,
  {
    was,
    is,
    isMine,
    mine,
    isDead,
  }: {
    was: InvocationState;
    is: InvocationState;
    isMine: boolean;
    mine: { leasedBy: string } | undefined;
    isDead: (holder: string) => boolean;
  },
): boolean {
  if (was.holder === null) {
    const isNextClaim = is.claim === was.claim + 1 && is.attempts === was.attempts + 1;
    return kind === 'work' && is.holder === memory.id && isNextClaim;
  }
  if (is.holder !== null || is.claim !== was.claim || is.attempts !== was.attempts) return false;
  return (
    (kind === 'give-back-runs' && isMine) ||
    (kind === 'give-back-unheld' && was.holder === memory.id && mine?.leasedBy !== memory.id) ||
    (kind === 'stop' && was.holder === memory.id) ||
    (isRecovery(kind) && isDead(was.holder))
  );
}

const isRecovery = (kind: LeaseMove['kind']) => kind === 'recover' || kind === 'declare-dead';

interface DeliveryChange {
  id: string;
  was: DeliveryState | undefined;
  is: DeliveryState;
  isDead: (holder: string) => boolean;
  /** Its webhook gets one after the other. */
  isOrdered: boolean;
}

export function isLegalDelivery(
  kind: LeaseMove['kind'],
  memory: LeaseMemory,
  { id, was, is, isDead, isOrdered }: DeliveryChange,
): boolean {
  if (was === undefined)
    return kind === 'commit' && is.status === 'pending' && is.count === 0 && [null, memory.id].includes(is.holder);
  const isGivenBack = is.holder === null && is.status === 'pending' && is.count === was.count;
  if (was.status === 'failed') return kind === 'redeliver' && is.status === 'pending' && is.count === 0;
  if (was.status !== 'pending') return false;
  if (was.holder === null) {
    const isTaken = is.holder === memory.id && is.count === was.count;
    // The record of the one before it takes it as well.
    return isTaken && ((kind === 'work' && was.isDue) || (kind === 'record' && isOrdered));
  }
  const isMine = was.holder === memory.id;
  if (kind === 'record') {
    // A node may have leased it again before an attempt under its lease of before was recorded.
    const isRecorded = memory.recorded.some(({ item, status }) => item.id === id && status === is.status);
    return isMine && is.holder === null && is.count === was.count + 1 && isRecorded;
  }
  return (
    isGivenBack &&
    ((kind === 'give-back-deliveries' && isMine && memory.deliveries.has(id)) ||
      (kind === 'give-back-unheld' && isMine && !memory.deliveries.has(id)) ||
      (kind === 'stop' && isMine) ||
      (isRecovery(kind) && isDead(was.holder)))
  );
}

/** Invariants of the rows that are broken. */
export function brokenRules(
  { account, invocations, events, abandoned, deliveries, jobs, active }: LeaseRows,
  accepted: ReadonlySet<string>,
  doomed: ReadonlySet<string>,
): string[] {
  const lanes = new Map<string, number>();
  for (const { key, runAtMs } of jobs) {
    const lane = key.split(':').slice(0, 2).join(':');
    lanes.set(lane, Math.min(runAtMs, lanes.get(lane) ?? runAtMs));
  }
  const faults: string[] = [];
  for (const id of accepted) {
    const copies = events.filter((event) => event === id).length;
    if (copies > 1) faults.push(`${id} ended ${copies} times`);
    const kept = abandoned.filter((one) => one === id).length;
    const places = copies + kept + (invocations.has(id) ? 1 : 0);
    if (places === 0 && !doomed.has(id)) faults.push(`${id} is lost`);
    if (places > 1) faults.push(`${id} has ended, is kept, or is still there: ${places} of them`);
    const own = [...deliveries.values()].filter(({ item }) => item === id).length;
    if (own !== copies) faults.push(`the event of ${id} has ${own} deliveries`);
  }
  for (const [id, { holder, source: lane }] of invocations)
    if (holder === null && active.has(lane) && !lanes.has(`run:${lane}`)) faults.push(`nobody comes for ${id}`);
  for (const [id, { status, holder, webhook, attempts, dueMs }] of deliveries) {
    // The job of a retry is its account's, and begins with the second after it.
    const comesAtMs = Math.min(
      lanes.get(`deliver:${webhook}`) ?? Infinity,
      lanes.get(`deliver:${account}`) ?? Infinity,
    );
    if (status === 'pending' && holder === null && comesAtMs > Math.max(dueMs, Date.now()) + 1_000)
      faults.push(`nobody comes for ${id}`);
    if (status !== 'pending' && holder !== null) faults.push(`${id} is ${status} and has a holder`);
    if (new Set(attempts).size !== attempts.length) faults.push(`an attempt of ${id} was recorded twice`);
  }
  return faults;
}

/**
 * One delivery of the ordered webhook is under way, or none. Where none is, one that waits is not
 * parked behind another, so that its lane finds it.
 */
export function brokenOrder({ deliveries }: LeaseRows, ordered: string): string[] {
  const pending = [...deliveries.values()].filter(({ webhook, status }) => webhook === ordered && status === 'pending');
  const held = pending.filter(({ holder }) => holder !== null).length;
  if (held > 1) return [`${held} deliveries of the ordered webhook are under way`];
  const isStuck = held === 0 && pending.length > 0 && pending.every(({ dueMs }) => !Number.isFinite(dueMs));
  return isStuck ? ['all deliveries of the ordered webhook are parked'] : [];
}

/** But for when it is due: deliveries of the ordered webhook are parked and come back. */
export const sameDelivery = (a?: DeliveryState, b?: DeliveryState) =>
  JSON.stringify({ ...a, isDue: 0, dueMs: 0 }) === JSON.stringify({ ...b, isDue: 0, dueMs: 0 });
