import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiData, callNode } from './api-calls.ts';
import type { Random } from './random.ts';
import type { ReceiverUrls, Tenant } from './tenants.ts';
import type { Timeline } from './timeline.ts';

export interface NoteReplays {
  /** Resolves when no call is under way. Replays may go on. */
  stop(): Promise<void>;
}

interface ReplayOptions {
  nodeUrls: readonly string[];
  tenants: readonly Tenant[];
  receivers: readonly ReceiverUrls[];
  durationMs: number;
  random: Random;
  timeline: Timeline;
}

const FIRST_AFTER_MS = 12_000;
const MIN_EVERY_MS = 20_000;
/** An account keeps its newest 100 replays that have ended. */
const MAX_REPLAYS = 80;
const RANGE_MS = 60_000;
/** Events that were stored so long ago are committed. */
const SETTLED_MS = 10_000;
const RATE_PER_SECOND = 20;
/** One in ten is of all notes since the begin of the soak. */
const ALL_EVERY = 10;
const ALL_RATE_PER_SECOND = 100;

/**
 * Replays notes of each account to new webhooks, slowly, so that faults find a replay under way.
 * A call without an answer is followed by one with another webhook. The database knows which
 * replays there are.
 */
export function replayNotes(options: ReplayOptions): NoteReplays {
  const { nodeUrls, durationMs, random, timeline } = options;
  const over = new AbortController();
  const { signal } = over;
  const beganAtMs = Date.now();
  const everyMs = Math.max(MIN_EVERY_MS, durationMs / MAX_REPLAYS);
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);

  async function replay({ apiKey: key, targets }: Tenant, url: string, isOfAll: boolean): Promise<ApiData> {
    const node = random.pick(nodeUrls) as string;
    const post = (path: string, body: unknown) => callNode(node, { key, method: 'POST', path, body });
    const webhook = await post('/webhooks', { url, name: 'replay' });
    const until = Date.now() - SETTLED_MS;
    return post('/replays', {
      emitter_id: targets.notes.id,
      listener_id: webhook['id'],
      since: isOfAll ? beganAtMs : Math.max(beganAtMs, until - RANGE_MS),
      until,
      rate_per_second: isOfAll ? ALL_RATE_PER_SECOND : RATE_PER_SECOND,
    });
  }

  async function replayOften(tenant: Tenant, receiver: ReceiverUrls): Promise<void> {
    await pause(FIRST_AFTER_MS);
    for (let tried = 1; !signal.aborted; tried++) {
      try {
        const { id, count } = await replay(tenant, receiver.hook(`replay-${tried}`), tried % ALL_EVERY === 3);
        timeline.add('replay', { id, count });
        await pause(everyMs);
      } catch (error) {
        timeline.add('no replay', { error: (error as Error).message });
        await pause(random.between(500, 1_500));
      }
    }
  }

  const all = Promise.all(
    options.tenants.map((tenant, i) => replayOften(tenant, options.receivers[i] as ReceiverUrls)),
  );
  return {
    async stop() {
      over.abort();
      await all;
    },
  };
}
