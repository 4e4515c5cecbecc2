import type { ReplayRecord } from '@headwater/engine';
import type { replaySchema, Shown } from '@headwater/shared/contract';

export function presentReplay(replay: ReplayRecord): Shown<typeof replaySchema> {
  return {
    id: replay.id ?? null,
    status: replay.status,
    error: replay.error ?? null,
    emitter_id: replay.emitterId,
    listener_id: replay.listenerId,
    event_name: replay.eventName ?? null,
    filter: replay.filter,
    since: replay.since?.getTime() ?? null,
    until: replay.until.getTime(),
    ids: replay.ids ?? null,
    rate_per_second: replay.ratePerSecond ?? null,
    count: replay.count,
    count_is_complete: replay.isCountComplete,
    delivered_before: replay.deliveredBefore,
    sent: replay.sent,
    warning: warningOf(replay),
    created_at: replay.createdAt.getTime(),
    ended_at: replay.endedAt?.getTime() ?? null,
  };
}

function warningOf({ deliveredBefore: count, listenerId }: ReplayRecord): string | null {
  if (count === 0) return null;
  return `${listenerId} got ${count} of these events before and gets ${count === 1 ? 'it' : 'them'} again`;
}
