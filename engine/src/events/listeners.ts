import type { ReceiverSettings } from '../delivery/receiver-settings.ts';
import { isWorkflow } from '../run/invocation.ts';

interface Subscribed {
  accountId: string;
  /** May be the glob `dc_*` or `p_*`. */
  emitterId: string;
  channel: string;
}

/** A subscription of a webhook, with what a first attempt needs. */
export interface WebhookListener extends Subscribed {
  kind: 'webhook';
  webhookId: string;
  url: string;
  sealedSecret: string;
  format: 'raw' | 'envelope';
  settings?: ReceiverSettings;
  /** So much waits for it already that it gets no more. */
  isFull?: boolean;
  /** It is stopped: what it gets is held. */
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

export interface Heard {
  webhooks: WebhookListener[];
  sources: SourceListener[];
  paused: PausedListener[];
  full: WebhookListener[];
  /** Webhooks that are stopped. */
  held: WebhookListener[];
}

/** Who hears what one account's emitter puts on a channel. */
export type HeardBy = (event: { accountId: string; emitterId: string; channel: string }) => Heard;

/** Every source, and every workflow. */
const GLOBS: ReadonlySet<string> = new Set(['dc_*', 'p_*']);

/**
 * Each listener once, also when both the emitter's id and the glob match. A source does not hear itself through the glob:
 * that would be a ring that nobody asked for.
 */
export function indexListeners(listeners: readonly Listener[]): HeardBy {
  const byChannel = Map.groupBy(
    listeners,
    ({ accountId, emitterId, channel }) => `${accountId} ${emitterId} ${channel}`,
  );
  // A thousand events of a run are heard by the same, who may be a thousand.
  const known = new Map<string, Heard>();
  return (event) => {
    const { accountId, emitterId, channel } = event;
    const key = `${accountId} ${emitterId} ${channel}`;
    const heard = known.get(key) ?? hearersOf(byChannel, event);
    known.set(key, heard);
    return heard;
  };
}

function hearersOf(
  byChannel: ReadonlyMap<string, readonly Listener[]>,
  { accountId, emitterId, channel }: Parameters<HeardBy>[0],
): Heard {
  const own = byChannel.get(`${accountId} ${emitterId} ${channel}`) ?? [];
  const all = byChannel.get(`${accountId} ${isWorkflow(emitterId) ? 'p_*' : 'dc_*'} ${channel}`) ?? [];
  const [webhooks, full, held] = Array.from({ length: 3 }, () => new Map<string, WebhookListener>()) as [
    Map<string, WebhookListener>,
    Map<string, WebhookListener>,
    Map<string, WebhookListener>,
  ];
  const sources = new Map<string, SourceListener>();
  const paused = new Map<string, PausedListener>();
  for (const listener of [...own, ...all]) {
    if (listener.kind === 'webhook') {
      (listener.isHeld === true ? held : listener.isFull === true ? full : webhooks).set(listener.webhookId, listener);
      continue;
    }
    const listenerId = listener.kind === 'source' ? listener.sourceId : listener.listenerId;
    if (GLOBS.has(listener.emitterId) && listenerId === emitterId) continue;
    if (listener.kind === 'source') sources.set(listenerId, listener);
    else paused.set(listenerId, listener);
  }
  return {
    webhooks: [...webhooks.values()],
    sources: [...sources.values()],
    paused: [...paused.values()],
    full: [...full.values()],
    held: [...held.values()],
  };
}
