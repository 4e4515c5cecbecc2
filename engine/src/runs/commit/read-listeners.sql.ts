import type { Listener } from './listeners.ts';
import type { Sql } from '../../db/index.ts';
import { receiverColumns, receiverOf, type ReceiverRow } from '../../outbox/index.ts';

/** Its `url` is null where the listener is a source or a workflow. */
export interface ListenerRow extends ReceiverRow {
  account_id: string;
  emitter_id: string;
  event_name: string;
  listener_id: string;
  filter: string | null;
  in_turn: boolean | null;
  active: boolean;
}

/**
 * Every webhook, source and workflow that subscribes to one of these channels of the emitters, or
 * to a pattern. Includes subscriptions by glob, and stopped listeners. Listeners of other channels
 * are not read for each commit: there may be thousands. Returns the query itself: it is sent when
 * it is awaited, in its order among those of the commit.
 */
export function readListeners(
  connection: Sql,
  accountIds: readonly string[],
  emitterIds: readonly string[],
  channels: readonly string[],
): PromiseLike<ListenerRow[]> {
  return connection<ListenerRow[]>`
    select s.account_id, s.emitter_id, s.event_name, s.listener_id, s.filter, ${receiverColumns(connection)}, l.in_turn,
      coalesce(w.active, l.active) as active
    from subscriptions s
    left join webhooks w on w.id = s.listener_id and w.account_id = s.account_id
    left join emitters l on l.id = s.listener_id and l.account_id = s.account_id
      and l.deleted_at is null and l.deployed_at is not null
    where s.account_id = any(${accountIds}::text[]) and s.emitter_id = any(${[...emitterIds, 'dc_*', 'p_*']}::text[])
      and s.channel_key = any(${[...channels, '*']}::text[])
      and (w.id is not null or l.id is not null)`;
}

export function listenerOf(row: ListenerRow): Listener {
  const subscribed = {
    accountId: row.account_id,
    emitterId: row.emitter_id,
    channel: row.event_name,
    ...(row.filter === null ? {} : { filter: row.filter }),
  };
  if (row.url === null) {
    if (!row.active) return { kind: 'paused', ...subscribed, listenerId: row.listener_id };
    return { kind: 'source', ...subscribed, sourceId: row.listener_id, ...(row.in_turn ? { inTurn: true } : {}) };
  }
  const held = row.active ? {} : { isHeld: true };
  return { kind: 'webhook', ...subscribed, webhookId: row.listener_id, url: row.url, ...receiverOf(row), ...held };
}
