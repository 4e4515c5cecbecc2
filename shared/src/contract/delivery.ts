import { z } from 'zod';
import { LIMITS } from '../limits/platform-limits.ts';
import { exceededLimitSchema } from './exceeded-limit.ts';
import { secondsField } from './fields.ts';
import type { Shown } from './record.ts';

export const DELIVERY_STATUSES = ['pending', 'sending', 'held', 'delivered', 'failed', 'dropped', 'cancelled'] as const;

export const DELIVERY_ERROR_CLASSES = [
  'http_3xx',
  'http_4xx',
  'http_5xx',
  'timeout',
  'connection',
  'refused',
  'internal',
  'transform',
] as const;

const phase = (description: string) => z.number().nullable().meta({ description });
const headersField = (description: string) => z.record(z.string(), z.string()).nullable().meta({ description });

const errorClassSchema = z.enum(DELIVERY_ERROR_CLASSES).nullable().meta({
  description:
    'How the last attempt failed, where it is known: `http_3xx`, `http_4xx`, `http_5xx` by the status of the answer; `timeout`; `connection`: there was none, or no whole answer; `refused`: this server may not send there; `internal`: it could not be sent; `transform`: the transform of the webhook failed.',
});

/** An attempt of a delivery. Null: there was none, or the attempt is of before this was kept. */
export const deliveryAttemptSchema = z
  .object({
    id: z.string().meta({ description: 'The id of the attempt.', example: 'dlv_1vZ8kQ0aB3xYpL9mWc2T-1763640000123' }),
    at: z.string().meta({ description: 'When it began, as ISO 8601.' }),
    trigger: z.enum(['first', 'retry', 'manual', 'replay', 'test']).nullable().meta({
      description:
        'Why it was made. `first`: its event; `retry`: the schedule; `manual`: a `retry` or `redeliver` of its owner; `replay`: a replay of past events; `test`.',
    }),
    status_code: z.int().nullable().describe('The HTTP status of the answer. Null: there was none.'),
    error: z.string().nullable().describe('Why it failed, in words. Null: it did not.'),
    error_class: errorClassSchema,
    limit: exceededLimitSchema.optional().meta({ description: 'The limit that is the reason of the error.' }),
    duration_ms: z.number().describe('How long it took, in milliseconds.'),
    phases: z
      .object({
        dns_ms: phase('The lookup of the name. Null for an address.'),
        connect_ms: phase('The connection.'),
        tls_ms: phase('TLS. Null over http.'),
        first_byte_ms: phase('From the request to the first byte of an answer.'),
        end_ms: phase('From there to its end.'),
      })
      .nullable()
      .meta({ description: 'What each phase took; null where it was not reached, or there was none.' }),
    reused: z.boolean().meta({ description: 'Its connection had served another request.' }),
    remote_address: z.string().nullable().meta({ description: 'Null as well behind a proxy.' }),
    location: z.string().nullable().meta({ description: 'Where a redirect pointed. It is not followed.' }),
    request_headers: headersField('Own headers of the webhook as `[redacted]`.'),
    response_headers: headersField('`set-cookie` as `[redacted]`.'),
    response: z
      .string()
      .nullable()
      .meta({ description: `The beginning of what was answered, ${LIMITS.maxStoredResponseBytes} bytes of it.` }),
    response_bytes: z
      .int()
      .nullable()
      .meta({ description: 'Bytes of the answer that are kept, where `response` is not all of them.' }),
    next_attempt_at: z
      .string()
      .nullable()
      .meta({ description: 'When the next one was to follow, as ISO 8601. Null: none was.' }),
  })
  .meta({ id: 'DeliveryAttempt' });

export const wholeAttemptSchema = deliveryAttemptSchema
  .and(
    z.object({
      // Required as it is: all of the answer, where the attempt alone has the beginning.
      response: z
        .string()
        .nullable()
        .meta({ description: `What was answered, up to ${LIMITS.maxDeliveryResponseBytes} bytes.` })
        .optional(),
      delivery_id: z.string().describe('The delivery whose attempt it is.'),
      webhook_id: z.string().describe('The webhook of the delivery.'),
      response_base64: z
        .string()
        .nullable()
        .meta({ description: 'The same byte for byte, where it is no UTF-8 text; else null.' }),
    }),
  )
  .meta({ id: 'WholeDeliveryAttempt' });

export const attemptsSchema = z
  .array(
    z.object({
      at: z.string().meta({ description: 'ISO 8601.' }),
      status_code: z.int().nullable().describe('The HTTP status of the answer. Null: there was none.'),
      error: z.string().nullable().describe('Why it failed, in words. Null: it did not.'),
      limit: exceededLimitSchema.optional().meta({ description: 'The limit that is the reason of the error.' }),
      duration_ms: z.number().describe('How long it took, in milliseconds.'),
      response: z.string().nullable().meta({ description: 'The beginning of what the receiver answered.' }),
    }),
  )
  .meta({ description: 'Oldest first.' });

export const deliverySchema = z
  .object({
    id: z.string().meta({ description: 'The id of the delivery.', example: 'dlv_1vZ8kQ0aB3xYpL9mWc2T' }),
    webhook_id: z.string().describe('The webhook that gets the event.'),
    emitter_id: z.string().describe('The source or workflow that emitted the event.'),
    event_id: z.string().describe('The id of the event.'),
    status: z.enum(DELIVERY_STATUSES).meta({
      description:
        '`sending`: its next attempt is under way or about to begin; `pending`: it waits for that; `held`: its webhook is stopped, and it waits for the start; `dropped`: its transform has dropped it, and the attempt says why.',
    }),
    error_class: errorClassSchema,
    attempts: z.array(deliveryAttemptSchema).meta({ description: 'Oldest first.' }),
    next_attempt_at: secondsField('When it is tried next, of one that is pending.').nullable(),
    replay_id: z.string().nullable().meta({ description: 'The replay that made it.' }),
    created_at: secondsField('When the event was emitted.'),
  })
  .meta({ id: 'Delivery' });

export const redeliverySchema = z
  .object({
    count: z.int().meta({ description: 'Deliveries that are due again, or would be with `dry_run`.' }),
    end_cursor: z.string().optional().meta({
      description: 'With `status` or `filter`: more may match behind what was looked at; give it as `after`.',
    }),
  })
  .meta({ id: 'Redelivery' });

export const retrySchema = z
  .object({
    count: z.int().meta({ description: 'Deliveries that are due now.' }),
    end_cursor: z.string().optional().meta({
      description: 'With `filter`: more may wait behind what was looked through; give it as `after`.',
    }),
  })
  .meta({ id: 'Retry' });

export const discardSchema = z
  .object({
    count: z.int().meta({
      description:
        'Deliveries that are cancelled. Of hundreds of thousands, the last ones are cancelled soon after the answer.',
    }),
  })
  .meta({ id: 'Discard' });

export type Delivery = Shown<typeof deliverySchema>;
