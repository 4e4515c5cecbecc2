import { setTimeout as sleep } from 'node:timers/promises';
import { HeadwaterError, LIMITS, notFound, randomToken } from '@headwater/shared';
import type { LimitsCache } from '../../accounts/index.ts';
import type {
  Log,
  NewTunnel,
  Principal,
  Stream,
  Subscriptions,
  TunnelRequest,
  Tunnels,
  Webhooks,
} from '../../contract/index.ts';
import { every, type Sql } from '../../db/index.ts';
import {
  answerTunnelRequest,
  expireTunnelRequests,
  insertTunnel,
  readLeftTunnels,
  takeTunnelRequests,
  touchTunnel,
} from './tunnels.sql.ts';
import { createOpenStreams } from '../../events/index.ts';

export interface TunnelsOptions {
  sql: Sql;
  /** As in TunnelInbox. */
  base: string;
  webhooks: Pick<Webhooks, 'create' | 'get' | 'delete'>;
  subscriptions: Pick<Subscriptions, 'create'>;
  limits: Pick<LimitsCache, 'get'>;
  log: Log;
}

const KEY_CHARS = 20;
const TIMEOUT_SECONDS = 30;
const EVERY_EMITTER = ['dc_*', 'p_*'];
const EVERY_CHANNEL = '*';
const CLEAN_EVERY_MS = 60_000;
const MAX_CLEANED = 50;

/** The side of the developer. `end` ends all streams, and opens no more. */
export function createTunnels(options: TunnelsOptions): Tunnels & { end(): void; stop(): Promise<void> } {
  const { sql, base, webhooks, subscriptions, limits, log } = options;
  const opened = createOpenStreams();

  async function subscribe(who: Principal, listenerId: string, { emitterId, eventName }: NewTunnel): Promise<void> {
    const emitters = emitterId === undefined ? EVERY_EMITTER : [emitterId];
    for (const emitter of emitters) {
      await subscriptions.create(who, { emitterId: emitter, listenerId, eventName: eventName ?? EVERY_CHANNEL });
    }
  }

  const stopCleaning = every(
    CLEAN_EVERY_MS,
    async () => {
      await expireTunnelRequests(sql);
      await deleteLeft(options);
    },
    (err) => log.warn({ err }, 'tunnels to which nobody listens could not be deleted'),
  );

  return {
    async create(who, tunnel) {
      const webhook = await webhooks.create(who, {
        url: base + randomToken(KEY_CHARS),
        name: tunnel.name ?? 'hw listen',
        retryScheduleSeconds: [],
        timeoutSeconds: TIMEOUT_SECONDS,
      });
      try {
        await insertTunnel(sql, who.accountId, webhook.id);
        await subscribe(who, webhook.id, tunnel);
        return webhook;
      } catch (error) {
        await webhooks.delete(who, webhook.id);
        throw error;
      }
    },
    async listen(who, webhookId) {
      const { accountId } = who;
      await webhooks.get(who, webhookId);
      if (!(await touchTunnel(sql, accountId, webhookId))) {
        const message = `The webhook ${webhookId} has an address of its own; only one that POST /v1/tunnels made is listened to`;
        throw new HeadwaterError('CONFLICT', message);
      }
      const { maxStreams } = await limits.get(accountId);
      const place = opened.enter(accountId, maxStreams);
      const stream = createStream(sql, accountId, webhookId, place.leave);
      place.closeWith(stream.close);
      return stream;
    },
    async answer(who, webhookId, answer) {
      await webhooks.get(who, webhookId);
      if (!(await answerTunnelRequest(sql, who.accountId, webhookId, answer)))
        throw notFound('request that waits for an answer', answer.requestId);
    },
    end: opened.end,
    stop: stopCleaning,
  };
}

/** Their maker did not delete them: a machine that was switched off. */
export async function deleteLeft({ sql, webhooks }: Pick<TunnelsOptions, 'sql' | 'webhooks'>): Promise<void> {
  for (const { accountId, webhookId } of await readLeftTunnels(sql, MAX_CLEANED)) {
    await webhooks.delete({ accountId, userId: '' }, webhookId).catch((error: unknown) => {
      // Another node was quicker.
      if (!(error instanceof HeadwaterError) || error.code !== 'NOT_FOUND') throw error;
    });
  }
}

function createStream(sql: Sql, accountId: string, webhookId: string, onClose: () => void): Stream<TunnelRequest> {
  const closing = new AbortController();
  const { signal } = closing;
  let signAtMs = performance.now();

  /** False: the webhook is gone. */
  async function sign(): Promise<boolean> {
    if (performance.now() - signAtMs < LIMITS.tunnelSignMs) return true;
    signAtMs = performance.now();
    return touchTunnel(sql, accountId, webhookId);
  }

  return {
    async next(waitMs) {
      const untilMs = performance.now() + waitMs;
      while (!signal.aborted) {
        if (!(await sign())) return undefined;
        const requests = await takeTunnelRequests(sql, accountId, webhookId);
        if (requests.length > 0) return requests;
        if (performance.now() >= untilMs) return [];
        await sleep(LIMITS.tunnelPollMs, undefined, { signal }).catch(() => undefined);
      }
      return undefined;
    },
    close() {
      if (signal.aborted) return;
      closing.abort();
      onClose();
    },
  };
}
