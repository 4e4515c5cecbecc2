import { HeadwaterError, newId } from '@headwater/shared';
import type { AccountRoom } from '../../accounts/index.ts';
import {
  changedMeanwhile,
  checkRevision,
  type ExpectedRevisions,
  type PageRequest,
  type Principal,
  type Webhooks,
  type WebhookUpdate,
} from '../../contract/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import { createWebhook } from './create-webhook.sql.ts';
import { addJobs, type Database, inPageOrder, namedLike, readPage } from '../../db/index.ts';
import { deleteWebhook } from './delete-webhook.sql.ts';
import { orderHeld } from '../deliveries/order-held.sql.ts';
import { backlogJob } from '../deliveries/webhook-backlog.ts';
import { readWebhooks } from './read-webhooks.sql.ts';
import { changesDelivery, updateWebhook, type WebhookChange } from './update-webhook.sql.ts';
import { createDeliveries } from '../deliveries/deliveries.ts';
import { newRequest, sealedRequest } from './request-settings.ts';
import { createSecret } from '../transports/webhook/sign.ts';
import type { AttemptOnce } from './test-delivery.ts';
import type { TransformsOfWebhooks } from '../transforms/transform.ts';
import { validateWebhook } from './validate-webhook.ts';
import { createEnd } from '../deliveries/end-deliveries.ts';
import { createWebhookActions } from './webhook-actions.ts';
import { findWebhook, sealHeaders, webhookRecordOf } from './webhook-record.ts';

/** The start of a webhook answers by then. Where very many are held, a job orders the rest. */
const ORDERED_MS = 5_000;

export interface WebhooksOptions {
  db: Database;
  sealer: Sealer;
  room: AccountRoom;
  /**
   * Gives back what this node has not begun of a webhook that has changed; see Deliverer. Default:
   * this node delivers nothing.
   */
  giveBack?: (webhookId: string) => Promise<void>;
  /** See Deliverer. Default: this node delivers nothing, and no test. */
  attemptOnce?: AttemptOnce;
  /** Default: this node runs no transforms. */
  transforms?: TransformsOfWebhooks;
  /**
   * Throws EgressRefused for a URL that no request may use, whatever its name resolves to. Default:
   * accepts every URL.
   */
  checkUrl?: (url: URL) => void;
}

/**
 * Webhooks as the API sees them. Every method answers NOT_FOUND for a webhook of another account.
 */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  const { db, sealer, room, giveBack = () => Promise.resolve(), attemptOnce, checkUrl, transforms } = options;
  const end = createEnd({ ...options, giveBack });

  const find = async (who: Principal, id: string) => webhookRecordOf(sealer, await findWebhook(db, who, id));
  const apply = createApply(options);

  return {
    async create(who, input) {
      validateWebhook(input, checkUrl);
      const webhook = {
        id: newId('webhook'),
        accountId: who.accountId,
        userId: who.userId,
        url: input.url,
        name: input.name || null,
        description: input.description || null,
        format: input.format ?? 'raw',
        secret: sealer.seal(who.accountId, input.secret ?? createSecret(input.signature)),
        requestHeaders: sealHeaders(sealer, who.accountId, input.headers),
        retryScheduleSeconds: input.retryScheduleSeconds ?? null,
        timeoutSeconds: input.timeoutSeconds ?? null,
        disableAfterHours: input.disableAfterHours ?? null,
        disableFailuresOverHours: input.disableFailuresOverHours ?? null,
        ordering: input.ordering ?? 'none',
        orderingKey: input.orderingKey ?? null,
        ratePerSecond: input.ratePerSecond ?? null,
        maxInFlight: input.maxInFlight ?? null,
        adaptiveRate: input.adaptiveRate ?? false,
        transformId: await chosenTransform(transforms, who, input.transformId ?? null),
        ...newRequest(sealer, who.accountId, input),
      };
      await room.make(who.accountId, (limits) => createWebhook(db.sql, webhook, limits));
      return find(who, webhook.id);
    },
    get: find,
    async list(who, { query: text, ...request }) {
      const { rows, ...page } = await pageOfWebhooks(db, who.accountId, text, request);
      return { ...page, items: rows.map((row) => webhookRecordOf(sealer, row)) };
    },
    async update(who, id, change, expected) {
      const { transformId: named } = change;
      const chosen = named === undefined ? {} : { transformId: await chosenTransform(transforms, who, named) };
      const webhook = await apply(who, id, { ...change, ...chosen }, expected);
      if (changesDelivery(changeOf(sealer, who.accountId, change))) await giveBack(id);
      return webhook;
    },
    async delete(who, id, expected) {
      await end(who, id, 'The webhook was deleted', async () => {
        checkRevision(`webhook ${id}`, (await find(who, id)).revision, expected);
        const isGone = await deleteWebhook(db, who.accountId, id, expected);
        if (!isGone && expected !== undefined) await refuse(db, who, id);
      });
    },
    previewTransform: async (who, id, request) =>
      requireTransforms(transforms).preview(who, await findWebhook(db, who, id), request),
    ...createDeliveries(db, find),
    ...createWebhookActions({ db, sealer, giveBack, end, ...(attemptOnce && { attemptOnce }) }),
  };
}

async function pageOfWebhooks(db: Database, accountId: string, text: string | undefined, request: PageRequest) {
  const where = namedLike(db.sql, ['name', 'url', 'id'], text);
  const query = { table: 'webhooks', accountId, where, order: 'created' } as const;
  const { ids, ...page } = await readPage(db.sql, query, request);
  return { ...page, rows: inPageOrder(ids, await readWebhooks(db, accountId, ids)) };
}

function requireTransforms(transforms: TransformsOfWebhooks | undefined): TransformsOfWebhooks {
  if (transforms === undefined) throw new HeadwaterError('UNAVAILABLE', 'This node runs no transforms');
  return transforms;
}

async function chosenTransform(transforms: TransformsOfWebhooks | undefined, who: Principal, named: string | null) {
  return named === null ? null : requireTransforms(transforms).choose(who, named);
}

type Look = Pick<WebhooksOptions, 'db' | 'sealer' | 'checkUrl'>;

function createApply({ db, sealer, checkUrl }: Look) {
  return async (who: Principal, id: string, update: WebhookUpdate, expected: ExpectedRevisions) => {
    const before = await findWebhook(db, who, id);
    checkRevision(`webhook ${id}`, before.revision, expected);
    validateWebhook(update, checkUrl);
    const held = { accountId: who.accountId, webhookId: id };
    const left =
      update.active === true && !before.active
        ? await orderHeld(db.sql, who.accountId, id, { maxMs: ORDERED_MS })
        : undefined;
    const row = await updateWebhook(db, who.accountId, id, changeOf(sealer, who.accountId, update), expected);
    if (left !== undefined) await addJobs(db.sql, [backlogJob({ ...held, act: 'order', after: left })]);
    return row === undefined ? refuse(db, who, id) : webhookRecordOf(sealer, row);
  };
}

function changeOf(sealer: Sealer, accountId: string, update: WebhookUpdate): WebhookChange {
  const { headers, method: _m, caCertificate: _ca, clientCertificate: _cc, clientKey: _ck, auth: _a, ...rest } = update;
  const sealed = headers === undefined ? {} : { sealedHeaders: sealHeaders(sealer, accountId, headers) };
  return { ...rest, ...sealed, ...sealedRequest(sealer, accountId, update) };
}

/** Another change, or its deletion, came between the look at it and this one. */
async function refuse(db: Database, who: Principal, id: string): Promise<never> {
  await findWebhook(db, who, id);
  throw changedMeanwhile(`webhook ${id}`);
}
