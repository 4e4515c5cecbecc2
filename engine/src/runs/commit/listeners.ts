import type { WebhookFormat } from '../../contract/index.ts';
import { isChannelPattern, matchesChannel } from '@headwater/shared';
import type { ReceiverSettings } from '../../outbox/index.ts';
import { createFilterJudges, type EventJudge, isWorkflow } from '../../events/index.ts';

interface Subscribed {
  accountId: string;
  /** May be the glob `dc_*` or `p_*`. */
  emitterId: string;
  /** May be a pattern: `order.*`. */
  channel: string;
  /** JSON text. Absent: every event of the channel. */
  filter?: string;
}

/** A subscription of a webhook, with the data for a first attempt. */
export interface WebhookListener extends Subscribed {
  kind: 'webhook';
  webhookId: string;
  url: string;
  sealedSecret: string;
  format: WebhookFormat;
  settings?: ReceiverSettings;
  /** Its backlog is full: it gets no more deliveries. */
  isFull?: boolean;
  /** The webhook is stopped: new deliveries are held. */
  isHeld?: boolean;
}

/** A subscription of an active source or workflow. */
interface SourceListener extends Subscribed {
  kind: 'source';
  sourceId: string;
  /** Its executions start by the rules of its settings. */
  inTurn?: true;
}

/** A subscription of a source or workflow that is stopped. */
interface PausedListener extends Subscribed {
  kind: 'paused';
  listenerId: string;
}

export type Listener = WebhookListener | SourceListener | PausedListener;

export interface MatchedListeners {
  /** One for each channel and what filters made of the event: the same listeners have the same. */
  key: string;
  webhooks: WebhookListener[];
  sources: SourceListener[];
  paused: PausedListener[];
  full: WebhookListener[];
  /** Webhooks that are stopped. */
  held: WebhookListener[];
  /** Listeners whose filter was aborted because the event takes too many steps. */
  tooCostly: string[];
}

/**
 * The listeners of a channel of one account's emitter. Without `data` filters are left out of
 * account. The same listeners are the same object.
 */
export type FindListeners = (event: {
  accountId: string;
  emitterId: string;
  channel: string;
  data?: string;
}) => MatchedListeners;

/** Every source, and every workflow. */
const GLOBS: ReadonlySet<string> = new Set(['dc_*', 'p_*']);
/** No channel has a NUL in its name. */
const PATTERNS = '\0';

/** The listeners of one channel of an emitter. */
interface ChannelListeners {
  listeners: readonly Listener[];
  hasFilters: boolean;
  all: MatchedListeners;
  byData: Map<string, MatchedListeners>;
  byKey: Map<string, MatchedListeners>;
}

/**
 * Each listener once, even if both the emitter's id and the glob match. A source does not get its
 * own events through the glob: that would be an unintended loop.
 */
export function indexListeners(listeners: readonly Listener[]): FindListeners {
  const byChannel = Map.groupBy(
    listeners,
    ({ accountId, emitterId, channel }) =>
      `${accountId} ${emitterId} ${isChannelPattern(channel) ? PATTERNS : channel}`,
  );
  const judgeFor = createFilterJudges();
  // A thousand events of one run have the same listeners, of which there may be a thousand.
  const known = new Map<string, ChannelListeners>();
  return (event) => {
    const { accountId, emitterId, channel, data } = event;
    const key = `${accountId} ${emitterId} ${channel}`;
    const found = known.get(key) ?? channelListeners(byChannel, event);
    known.set(key, found);
    if (!found.hasFilters || data === undefined) return found.all;
    const heard = found.byData.get(data) ?? filtered(found, channel, judgeFor(accountId, data));
    found.byData.set(data, heard);
    return heard;
  };
}

function channelListeners(
  byChannel: ReadonlyMap<string, readonly Listener[]>,
  { accountId, emitterId, channel }: Parameters<FindListeners>[0],
): ChannelListeners {
  const listeners = [emitterId, isWorkflow(emitterId) ? 'p_*' : 'dc_*'].flatMap((emitter) => [
    ...(byChannel.get(`${accountId} ${emitter} ${channel}`) ?? []),
    ...(byChannel.get(`${accountId} ${emitter} ${PATTERNS}`) ?? []).filter((one) =>
      matchesChannel(one.channel, channel),
    ),
  ]);
  const others = listeners.filter((one) => !GLOBS.has(one.emitterId) || idOf(one) !== emitterId);
  return {
    listeners: others,
    hasFilters: others.some(({ filter }) => filter !== undefined),
    all: sortListeners(others, channel, []),
    byData: new Map(),
    byKey: new Map(),
  };
}

/**
 * One that is subscribed twice, by a pattern and by its channel, hears the event where one of the
 * filters matches.
 */
function filtered({ listeners, byKey }: ChannelListeners, channel: string, judge: EventJudge): MatchedListeners {
  const answers = listeners.map(({ filter }) => (filter === undefined ? 'match' : judge(filter)));
  const key = `${channel}\0${answers.map((answer) => answer.charAt(0)).join('')}`;
  const known = byKey.get(key);
  if (known !== undefined) return known;
  const passing = listeners.filter((_, at) => answers[at] === 'match');
  const reached = new Set(passing.map(idOf));
  const costly = listeners.filter((_, at) => answers[at] === 'too_costly').map(idOf);
  const heard = sortListeners(
    passing,
    key,
    [...new Set(costly)].filter((id) => !reached.has(id)),
  );
  byKey.set(key, heard);
  return heard;
}

function idOf(listener: Listener): string {
  if (listener.kind === 'webhook') return listener.webhookId;
  return listener.kind === 'source' ? listener.sourceId : listener.listenerId;
}

function sortListeners(listeners: readonly Listener[], key: string, tooCostly: string[]): MatchedListeners {
  const [webhooks, full, held] = Array.from({ length: 3 }, () => new Map<string, WebhookListener>()) as [
    Map<string, WebhookListener>,
    Map<string, WebhookListener>,
    Map<string, WebhookListener>,
  ];
  const sources = new Map<string, SourceListener>();
  const paused = new Map<string, PausedListener>();
  for (const listener of listeners) {
    if (listener.kind === 'webhook') {
      (listener.isHeld === true ? held : listener.isFull === true ? full : webhooks).set(listener.webhookId, listener);
    } else if (listener.kind === 'source') sources.set(listener.sourceId, listener);
    else paused.set(listener.listenerId, listener);
  }
  return {
    key,
    webhooks: [...webhooks.values()],
    sources: [...sources.values()],
    paused: [...paused.values()],
    full: [...full.values()],
    held: [...held.values()],
    tooCostly,
  };
}
