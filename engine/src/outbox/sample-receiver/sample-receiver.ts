import { LIMITS, newId, randomToken } from '@headwater/shared';
import type { SampleReceiver } from '../../contract/index.ts';
import type { DueDelivery } from '../deliveries/due-delivery.ts';
import { type Inbox, isUrlBelow } from '../transports/webhook/inbox.ts';
import { findSignatureFault, type SignedRequest } from '../webhooks/verify-signature.ts';
import { readSecret } from '../transports/webhook/sign.ts';
import type { Sealer } from '../../secrets/index.ts';
import { createBatcher, inPageOrder, isDataError, readPage, type Sql } from '../../db/index.ts';
import {
  deleteSampleRequests,
  findSampleKey,
  insertSampleRequests,
  readSampleKey,
  readSampleRequests,
  readSealedSecrets,
} from './sample-requests.sql.ts';

export interface SampleReceiverOptions {
  sql: Sql;
  sealer: Pick<Sealer, 'open'>;
  /** As in EngineOptions. */
  publicUrl: string;
  nowMs: () => number;
}

const PATH = '/sample-receiver/';
const KEY_CHARS = 32;
const MAX_BATCH = 64;
/** Deliveries that come together share a transaction, however fast they come. */
const MIN_INTERVAL_MS = 50;
const MAX_KEYS = 10_000;

type Taken = SignedRequest & { delivery: DueDelivery };

export function createSampleReceiver(options: SampleReceiverOptions): SampleReceiver & Inbox {
  const { sql, publicUrl, nowMs } = options;
  const base = new URL(publicUrl).href.replace(/\/$/, '') + PATH;
  const keyOf = createKeys((accountId) => findSampleKey(sql, accountId));
  const batcher = createBatcher<Taken, undefined>({
    maxBatch: MAX_BATCH,
    minIntervalMs: MIN_INTERVAL_MS,
    isItemsFault: isDataError,
    async commit(taken) {
      await insertSampleRequests(sql, await verifyAll(options, taken));
      return taken.map(() => undefined);
    },
  });

  return {
    isBelow: (url) => isUrlBelow(url, base, PATH),
    async receive(delivery, request) {
      const key = await keyOf(delivery.accountId);
      // Another account's key is as unknown as one that was made up.
      if (key === undefined || new URL(delivery.url).href !== base + key)
        return { status: 404, text: 'This account has no sample receiver at this address' };
      await batcher.add({ ...request, delivery });
      return { status: 200, text: 'Received by the sample receiver' };
    },
    url: async ({ accountId }) => base + (await readSampleKey(sql, accountId, randomToken(KEY_CHARS))),
    async requests({ accountId }, page) {
      const sinceMs = nowMs() - LIMITS.sampleRequestsKeptMs;
      const where = sql`and received_at >= to_timestamp(${sinceMs / 1000}::float8)`;
      const query = {
        table: 'sample_requests',
        accountId,
        order: 'id',
        where,
        bytes: sql`octet_length(body)`,
      } as const;
      const { ids, ...rest } = await readPage(sql, query, page);
      return { ...rest, items: inPageOrder(ids, await readSampleRequests(sql, accountId, ids)) };
    },
    clear: ({ accountId }) => deleteSampleRequests(sql, accountId),
  };
}

/** Caches keys, because a key never changes. A missing key is read again. */
function createKeys(read: (accountId: string) => Promise<string | undefined>) {
  const keys = new Map<string, string>();
  return async (accountId: string): Promise<string | undefined> => {
    const known = keys.get(accountId) ?? (await read(accountId));
    if (known === undefined) return undefined;
    if (keys.size >= MAX_KEYS) keys.clear();
    keys.set(accountId, known);
    return known;
  };
}

/**
 * Verifies with the webhooks' current secrets, which their owners see, not with those that signed
 * the deliveries.
 */
async function verifyAll({ sql, sealer, nowMs }: SampleReceiverOptions, taken: readonly Taken[]) {
  const secrets = await readSealedSecrets(sql, [...new Set(taken.map(({ delivery }) => delivery.webhookId))]);
  return taken.map(({ delivery, headers, body }) => {
    const { accountId, webhookId, id: deliveryId } = delivery;
    const sealed = secrets.get(webhookId);
    const secret = sealed === undefined ? undefined : openSecret(sealer, accountId, sealed);
    const fault =
      secret === undefined
        ? 'The secret of the webhook is gone, or cannot be read'
        : findSignatureFault(readSecret(secret), { headers, body }, nowMs());
    return {
      id: newId('sampleRequest'),
      accountId,
      webhookId,
      deliveryId,
      headers: { ...headers },
      // Postgres has no NUL in text.
      body: Buffer.from(body.subarray(0, LIMITS.maxSampleBodyBytes)).toString('utf8').replaceAll('\0', '\ufffd'),
      bodyBytes: body.byteLength,
      verified: fault === undefined,
      verdict: fault ?? 'The signature is verified',
    };
  });
}

/** One that cannot be opened must not keep what came with it from being stored. */
function openSecret(sealer: Pick<Sealer, 'open'>, accountId: string, sealed: string): string | undefined {
  try {
    return sealer.open(accountId, sealed);
  } catch {
    return undefined;
  }
}
