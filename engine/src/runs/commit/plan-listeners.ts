import { type ExceededLimit, newId } from '@headwater/shared';
import { emitIdOf, ERRORS_CHANNEL, type EventCause, newInvocationId, orderKeyOf } from '../../events/index.ts';
import type { DeliveryRow, EventRow, FanOut, InvocationRow } from './event-rows.ts';
import type { MatchedListeners, FindListeners, WebhookListener } from './listeners.ts';
import type { MissedEvents } from './missed.ts';
import { NOTHING_QUEUED, type Queued } from './queued.ts';

/** The limit that the account would exceed with `more`; undefined if there is room. */
export type RoomFor = (accountId: string, more: Queued) => ExceededLimit | undefined;

/** Whether the account may hold this many more deliveries. If so, counts them. */
export type RoomForHeld = (accountId: string, more: number) => boolean;

/** The facts of the emitting run that decide which listeners get its events. */
export interface Emitting {
  accountId: string;
  emitterId: string;
  traceId: string | undefined;
  /** How many events the chain has with these. */
  hops: number;
  maxHops: number;
}

/** The rows that an event leads to. */
type Hearers = Pick<MatchedListeners, 'key' | 'webhooks' | 'sources' | 'held'>;

export interface Led {
  deliveries: DeliveryRow[];
  /** In the order of their events, and so are their ids. */
  invocations: InvocationRow[];
  fanOuts: FanOut[];
}

/**
 * Beyond this many rows for one run, or this many characters copied into them, they are a FanOut:
 * each takes the node's thread some 10 µs.
 */
const MAX_ROWS = 500;
const MAX_CHARS = 2_000_000;

/** Work that the run would add to the queue. */
export function countQueued(
  run: Emitting,
  events: readonly { channel: string; data: string }[],
  hears: FindListeners,
): Queued {
  return sumQueued(events, ({ channel, data }) => hears({ ...run, channel, data }));
}

function sumQueued<E extends { data: string }>(
  events: readonly E[],
  hears: (event: E) => Pick<MatchedListeners, 'webhooks' | 'sources' | 'held'>,
): Queued {
  const queued = { ...NOTHING_QUEUED };
  for (const event of events) {
    const { webhooks, sources, held } = hears(event);
    queued.deliveries += webhooks.length;
    queued.held += held.length;
    queued.invocations += sources.length;
    queued.chars += sources.length * event.data.length;
  }
  return queued;
}

/**
 * Sources that listen to each other must not run for ever, and the queue must not grow for ever:
 * such a run fails with the limit. `isFull`: its events are stored, but no listener gets them.
 */
export function findExceeded(
  run: Emitting,
  queued: Queued,
  roomFor: RoomFor,
): { limit: ExceededLimit | undefined; isFull: boolean } {
  const isTooFar = run.hops > run.maxHops && queued.invocations > 0;
  const tooFar = isTooFar ? { name: 'maxEventHops' as const, value: run.maxHops, used: run.hops } : undefined;
  const more = isTooFar ? { ...queued, invocations: 0, chars: 0 } : queued;
  const full = more.invocations + more.deliveries > 0 ? roomFor(run.accountId, more) : undefined;
  return { limit: tooFar ?? full, isFull: full !== undefined };
}

/** Adds the listeners of these events, which are of one run and in order. */
export function addListeners(
  led: Led,
  run: Emitting,
  events: readonly EventRow[],
  hears: FindListeners,
  { isFull, roomForHeld }: { isFull: boolean; roomForHeld: RoomForHeld },
  missed: MissedEvents,
): void {
  const heard = new Map<EventRow, Hearers>();
  for (const [found, alike] of Map.groupBy(events, ({ channel, data }) => hears({ ...run, channel, data }))) {
    const { key, webhooks, sources, paused, full, held, tooCostly } = found;
    const first = alike[0] as EventRow;
    const range = { first, toSeq: alike.at(-1)?.position.seq ?? 0, count: alike.length };
    // Errors get one more hop: a source that reports errors must also get the end of a chain.
    const isTooFar = run.hops > run.maxHops + (first.channel === ERRORS_CHANNEL ? 1 : 0);
    for (const { listenerId } of paused) missed.paused(range, listenerId);
    for (const listenerId of tooCostly) missed.filterTooCostly(range, listenerId, run.traceId);
    for (const { webhookId } of isFull ? [...webhooks, ...full] : full)
      missed.backlogFull(range, webhookId, run.traceId);
    for (const { sourceId } of sources) {
      if (isTooFar) missed.tooManyHops(range, sourceId, run.traceId);
      else if (isFull) missed.backlogFull(range, sourceId, run.traceId);
    }
    const { true: kept = [], false: lost = [] } = Object.groupBy(
      held,
      () => `${roomForHeld(run.accountId, alike.length)}` as const,
    );
    for (const { webhookId } of lost) missed.holdFull(range, webhookId, run.traceId);
    const hearers = {
      key,
      webhooks: isFull ? [] : webhooks,
      sources: isFull || isTooFar ? [] : sources,
      held: kept,
    };
    for (const event of alike) heard.set(event, hearers);
  }
  lead(led, run, events, heard);
}

function lead(led: Led, run: Emitting, events: readonly EventRow[], heard: ReadonlyMap<EventRow, Hearers>): void {
  const { invocations, chars, deliveries, held } = sumQueued(events, (event) => heard.get(event) as Hearers);
  if (invocations + deliveries + held <= MAX_ROWS && chars <= MAX_CHARS) {
    for (const event of events) addRows(led, run, event, heard.get(event) as Hearers);
    return;
  }
  // Those in order have keys, which are found here.
  for (const [event, of] of heard)
    for (const listener of [...of.webhooks, ...of.held]) if (isOrdered(listener)) addDelivery(led, event, listener);
  const byKey = new Map([...heard.values()].map((one) => [one.key, one]));
  led.fanOuts.push({
    events: events.map((event) => ({ event, cause: causeBy(run, event), heardKey: heard.get(event)?.key ?? '' })),
    webhookIds: new Map(
      [...byKey].map(([key, of]) => [
        key,
        [...of.webhooks, ...of.held].filter((one) => !isOrdered(one)).map((one) => one.webhookId),
      ]),
    ),
    heldIds: new Set([...byKey.values()].flatMap((of) => of.held.map((one) => one.webhookId))),
    sourceIds: new Map([...byKey].map(([key, of]) => [key, of.sources.map((one) => one.sourceId)])),
  });
}

function addDelivery(led: Led, event: EventRow, listener: WebhookListener): void {
  const { ordering } = listener.settings ?? {};
  const inOrder = ordering === undefined ? {} : { orderKey: orderKeyOf(ordering.key, event.data) };
  led.deliveries.push({ id: newId('delivery', event.position.ms), event, listener, ...inOrder });
}

const isOrdered = ({ settings }: WebhookListener) => settings?.ordering !== undefined;

/**
 * Ids of deliveries and invocations carry the millisecond of their event: traces find them by it.
 */
function addRows(led: Led, run: Emitting, event: EventRow, { webhooks, sources, held }: Hearers): void {
  for (const listener of [...webhooks, ...held]) addDelivery(led, event, listener);
  if (sources.length === 0) return;
  const cause = causeBy(run, event);
  for (const { sourceId, inTurn } of sources) {
    const id = newInvocationId(sourceId, event.position.ms);
    led.invocations.push({ id, sourceId, event, cause, ...(inTurn ? { inTurn } : {}) });
  }
}

function causeBy({ hops, traceId }: Emitting, { emitterId, position }: EventRow): EventCause {
  return { event: emitIdOf(emitterId, position), hops, ...(traceId === undefined ? {} : { traceId }) };
}
