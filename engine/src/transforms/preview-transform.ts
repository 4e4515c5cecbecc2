import { HeadwaterError, LIMITS, notFound } from '@headwater/shared';
import { createBoundedTurns } from '../fairness/index.ts';
import type { ComponentFinder, Saver } from '../components/index.ts';
import type {
  Components,
  PreviewedRequest,
  Principal,
  TransformPreview,
  TransformPreviewRequest,
} from '../contract/index.ts';
import { emitIdOf, formatEventId, isOfRuns, parseEventId } from '../events/index.ts';
import type { Sql } from '../db/index.ts';
import {
  type DueDelivery,
  findEventOfAccount,
  type GivenTransform,
  receiverOfWebhook,
  type RunTransform,
  TEST_EMITTER,
  type TransformedRequest,
  type TransformRun,
  type TransformsOfWebhooks,
  type WebhookRow,
} from '../outbox/index.ts';
import { type PastEvent, readNewestOfWebhook } from './read-newest-of-webhook.sql.ts';

export interface PreviewParts {
  sql: Sql;
  components: Pick<Components, 'obtain'> & Pick<Saver, 'prepare'> & ComponentFinder;
  run: RunTransform;
}

const EMIT_ID = /^(\w{1,64})-(\d{1,15}-\d{1,9})$/;
const DEFAULT_COUNT = 3;
/** As long as the slowest transform may take. */
const MAX_PREVIEW_MS = 60_000;

export function createTransformsOfWebhooks({ sql, components, run }: PreviewParts): TransformsOfWebhooks {
  const turns = createBoundedTurns('maxWebhookTestsPerTenant', 'previews of transforms');

  async function transformOf(
    who: Principal,
    webhook: WebhookRow,
    { componentId: idOrKey = webhook.transformId ?? undefined, componentCode }: TransformPreviewRequest,
  ): Promise<GivenTransform> {
    if (componentCode !== undefined) {
      const { id, type, bundle } = await components.prepare(who, { componentCode });
      return { ...requireTransform({ id, type }, 'component_code'), bundle };
    }
    if (idOrKey === undefined) {
      const message = `Webhook ${webhook.id} has no transform: give component_id or component_code`;
      throw new HeadwaterError('INVALID_REQUEST', message, { fields: [{ path: 'component_id', message }] });
    }
    return requireTransform(await components.obtain(who, idOrKey), 'component_id');
  }

  return {
    choose: async (who, idOrKey) => requireTransform(await components.obtain(who, idOrKey), 'transform_id').componentId,
    preview: (who, webhook, request) =>
      turns.run(who.accountId, async () => {
        const transform = await transformOf(who, webhook, request);
        const events = await eventsOf(sql, webhook, request);
        const signal = AbortSignal.timeout(MAX_PREVIEW_MS);
        const previews: TransformPreview[] = [];
        for (const event of events) {
          const ran = await run(deliveryOf(webhook, event), transform, signal);
          previews.push(previewOf(event, ran));
        }
        return previews;
      }),
  };
}

function requireTransform({ id, type }: { id: string; type: string }, path: string): { componentId: string } {
  if (type === 'transform') return { componentId: id };
  const message = `must be a component of the type transform; ${id} is of the type ${type}`;
  throw new HeadwaterError('INVALID_REQUEST', `${path} ${message}`, { fields: [{ path, message }] });
}

async function eventsOf(sql: Sql, webhook: WebhookRow, request: TransformPreviewRequest): Promise<PastEvent[]> {
  const { accountId, id: webhookId } = webhook;
  const { eventIds, event, last = DEFAULT_COUNT, emittedAlone = false } = request;
  if (event !== undefined) {
    const data = JSON.stringify(event);
    return [{ emitterId: TEST_EMITTER, indexedAtMs: Date.now(), seq: 0, channel: '', ts: null, data }];
  }
  if (eventIds === undefined) return readNewestOfWebhook(sql, { accountId, webhookId }, last);
  const found: PastEvent[] = [];
  for (const id of eventIds) found.push(await findEvent(sql, accountId, id, emittedAlone));
  return found;
}

async function findEvent(sql: Sql, accountId: string, id: string, emittedAlone: boolean): Promise<PastEvent> {
  const [, emitterId, eventId = id] = EMIT_ID.exec(id) ?? [];
  const position = parseEventId(eventId);
  const found = position === undefined ? undefined : await findEventOfAccount(sql, accountId, position, emitterId);
  if (position === undefined || found === undefined || (emittedAlone && isOfRuns(found.channel)))
    throw notFound('event', id);
  return { ...found, indexedAtMs: position.ms, seq: position.seq };
}

function deliveryOf(webhook: WebhookRow, { ts, ...event }: PastEvent): DueDelivery {
  const { id, accountId, url } = webhook;
  const own = { id, accountId, webhookId: id, url, ...receiverOfWebhook(webhook) };
  return { ...own, ...event, ...(ts === null ? {} : { ts }), attemptCount: 0, isTest: true };
}

function previewOf({ emitterId, indexedAtMs, seq, channel }: PastEvent, ran: TransformRun): TransformPreview {
  const position = { ms: indexedAtMs, seq };
  const about = {
    eventId: formatEventId(position),
    emitId: emitIdOf(emitterId, position),
    emitterId,
    channel,
    before: shown(ran.before),
    logs: ran.logs,
  };
  const { result } = ran;
  switch (result.kind) {
    case 'sent':
      return { ...about, outcome: 'sent', after: shown(result.request) };
    case 'dropped':
      return { ...about, outcome: 'dropped', reason: result.reason };
    case 'failed':
      return { ...about, outcome: 'failed', error: result.error };
    case 'stopped':
      return { ...about, outcome: 'failed', error: 'It took too long' };
  }
}

function shown({ body, ...request }: TransformedRequest): PreviewedRequest {
  const isCut = body.length > LIMITS.maxPreviewedBodyChars;
  return { ...request, body: isCut ? body.slice(0, LIMITS.maxPreviewedBodyChars).toWellFormed() : body, isCut };
}
