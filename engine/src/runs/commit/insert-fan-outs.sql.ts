import { ID_PREFIXES, idFloor, type IdKind, randomToken } from '@headwater/shared';
import type { EventRow, FanOut } from './event-rows.ts';
import type { EventCause } from '../../events/index.ts';
import { longTexts, type Sql } from '../../db/index.ts';
import { placeOf } from '../invocations.sql.ts';

/**
 * An id has twelve random characters: eight for its event, in event order, and the rest for its
 * listener.
 */
const EVENT_CHARS = 8;
const LISTENER_CHARS = 4;

interface Event {
  event: EventRow;
  cause: EventCause;
  /** Events and listeners of the same group belong together: one key of one fan-out. */
  group: number;
  token: string;
}

interface Listener {
  group: number;
  id: string;
  token: string;
}

/** Rows that one statement makes: some 20 ms of a processor. */
const ROWS_AT_ONCE = 2_000;

/**
 * Deliveries of wide fan-outs, each event for each webhook, without a lease. `restAfter` is called
 * between statements, with the time of the last one. Forty thousand rows in one piece take a third
 * of a second of one processor.
 */
export function insertWideDeliveries(
  sql: Sql,
  fanOuts: readonly FanOut[],
  restAfter: (tookMs: number) => Promise<void>,
): Promise<void> | undefined {
  const { events, listeners } = groupsOf(fanOuts, (fanOut) => fanOut.webhookIds);
  if (listeners.length === 0) return undefined;
  return insertInSlices(slicesOf(events, listeners), restAfter, (slice) => insertDeliveries(sql, slice, listeners));
}

async function insertInSlices(
  slices: readonly Event[][],
  restAfter: (tookMs: number) => Promise<void>,
  insert: (slice: readonly Event[]) => PromiseLike<unknown>,
): Promise<void> {
  for (const [nth, slice] of slices.entries()) {
    const beganMs = performance.now();
    await insert(slice);
    if (nth < slices.length - 1) await restAfter(performance.now() - beganMs);
  }
}

/** In their order, each of at most ROWS_AT_ONCE rows, or of one event. */
function slicesOf(events: readonly Event[], listeners: readonly Listener[]): Event[][] {
  const counts = new Map<number, number>();
  for (const { group } of listeners) counts.set(group, (counts.get(group) ?? 0) + 1);
  const slices: Event[][] = [];
  let rows = ROWS_AT_ONCE;
  for (const event of events) {
    const more = counts.get(event.group) ?? 0;
    if (rows + more > ROWS_AT_ONCE) {
      slices.push([]);
      rows = 0;
    }
    slices.at(-1)?.push(event);
    rows += more;
  }
  return slices;
}

function insertDeliveries(sql: Sql, events: readonly Event[], listeners: readonly Listener[]) {
  return sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq)
    select e.head || l.token, e.account_id, l.id, e.emitter_id, e.ms, e.seq
    from unnest(
      ${events.map(({ group }) => group)}::int4[], ${events.map((event) => headOf('delivery', event))}::text[],
      ${events.map(({ event }) => event.accountId)}::text[], ${events.map(({ event }) => event.emitterId)}::text[],
      ${events.map(({ event }) => event.position.ms)}::int8[], ${events.map(({ event }) => event.position.seq)}::int4[]
    ) as e(group_no, head, account_id, emitter_id, ms, seq)
    join ${listenersOf(sql, listeners)} on l.group_no = e.group_no`;
}

/**
 * The same for sources and workflows that listen. What they are run with is sent once, however many
 * they are.
 */
export function insertWideInvocations(sql: Sql, fanOuts: readonly FanOut[]) {
  const { events, listeners } = groupsOf(fanOuts, (fanOut) => fanOut.sourceIds);
  if (listeners.length === 0) return undefined;
  return sql`
    insert into invocations (id, account_id, source_id, kind, event, caused_by, trace_id, hops, attempts, claim, place)
    select r.*, 0, 0, ${placeOf(sql)} from (
      select case when starts_with(l.id, ${ID_PREFIXES.workflow}) then e.execution_head else e.invocation_head end || l.token,
        e.account_id, l.id as source_id, 'event', e.event, e.caused_by, e.trace_id, e.hops
      from unnest(
        ${events.map(({ group }) => group)}::int4[], ${events.map((event) => headOf('invocation', event))}::text[],
        ${events.map((event) => headOf('execution', event))}::text[],
        ${events.map(({ event }) => event.accountId)}::text[], ${events.map(({ cause }) => cause.event)}::text[],
        ${events.map(({ cause }) => cause.traceId ?? null)}::text[], ${events.map(({ cause }) => cause.hops)}::int4[],
        ${longTexts(
          sql,
          events.map(({ event }) => event.data),
        )}
      ) with ordinality as e(group_no, invocation_head, execution_head, account_id, caused_by, trace_id, hops, event, nth)
      join ${listenersOf(sql, listeners)} on l.group_no = e.group_no
      order by e.nth
    ) as r`;
}

function groupsOf(
  fanOuts: readonly FanOut[],
  listenersByKey: (fanOut: FanOut) => ReadonlyMap<string, readonly string[]>,
): { events: Event[]; listeners: Listener[] } {
  const groups = new Map<string, number>();
  const listeners: Listener[] = [];
  fanOuts.forEach((fanOut, nth) => {
    for (const [key, ids] of listenersByKey(fanOut)) {
      if (ids.length === 0) continue;
      const group = groups.size;
      groups.set(`${nth} ${key}`, group);
      const tokens = uniqueTokens(ids.length, LISTENER_CHARS);
      ids.forEach((id, at) => listeners.push({ group, id, token: tokens[at] as string }));
    }
  });
  const heard = fanOuts.flatMap(({ events }, nth) =>
    events.flatMap(({ event, cause, heardKey }) => {
      const group = groups.get(`${nth} ${heardKey}`);
      return group === undefined ? [] : [{ event, cause, group }];
    }),
  );
  const tokens = uniqueTokens(heard.length, EVENT_CHARS).sort();
  return { events: heard.map((event, at) => ({ ...event, token: tokens[at] as string })), listeners };
}

function uniqueTokens(count: number, chars: number): string[] {
  const tokens = new Set<string>();
  while (tokens.size < count) tokens.add(randomToken(chars));
  return [...tokens];
}

const headOf = (kind: IdKind, { event, token }: Event) => idFloor(kind, event.position.ms) + token;

function listenersOf(sql: Sql, listeners: readonly Listener[]) {
  return sql`unnest(
    ${listeners.map(({ group }) => group)}::int4[], ${listeners.map(({ id }) => id)}::text[],
    ${listeners.map(({ token }) => token)}::text[]
  ) as l(group_no, id, token)`;
}
