interface Subscribed {
  accountId: string;
  /** May be the glob `dc_*`. */
  emitterId: string;
  channel: string;
}

/** A subscription of an active webhook, with what a first attempt needs. */
export interface WebhookListener extends Subscribed {
  kind: 'webhook';
  webhookId: string;
  url: string;
  sealedSecret: string;
  format: 'raw' | 'envelope';
}

/** A subscription of an active source. */
interface SourceListener extends Subscribed {
  kind: 'source';
  sourceId: string;
}

export type Listener = WebhookListener | SourceListener;

interface Heard {
  webhooks: WebhookListener[];
  sources: SourceListener[];
}

/** Who hears what one account's emitter puts on a channel. */
export type HeardBy = (event: { accountId: string; emitterId: string; channel: string }) => Heard;

const GLOB = 'dc_*';

/**
 * Each listener once, also when both the emitter's id and the glob match. A source does not hear itself through the glob:
 * that would be a ring that nobody asked for.
 */
export function indexListeners(listeners: readonly Listener[]): HeardBy {
  const byEmitter = Map.groupBy(listeners, (listener) => `${listener.accountId} ${listener.emitterId}`);
  return ({ accountId, emitterId, channel }) => {
    const own = byEmitter.get(`${accountId} ${emitterId}`) ?? [];
    const all = byEmitter.get(`${accountId} ${GLOB}`) ?? [];
    const webhooks = new Map<string, WebhookListener>();
    const sources = new Map<string, SourceListener>();
    for (const listener of [...own, ...all]) {
      if (listener.channel !== channel) continue;
      if (listener.kind === 'webhook') webhooks.set(listener.webhookId, listener);
      else if (listener.emitterId !== GLOB || listener.sourceId !== emitterId) sources.set(listener.sourceId, listener);
    }
    return { webhooks: [...webhooks.values()], sources: [...sources.values()] };
  };
}
