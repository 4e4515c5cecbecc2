import { isUtf8 } from 'node:buffer';
import { z } from '@hono/zod-openapi';
import { ATTEMPT_TRIGGERS, DELIVERY_ERROR_CLASSES, type DeliveryAttempt, type WholeAttempt } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { exceededLimitSchema } from './exceeded-limit.ts';

const phase = (description: string) => z.number().nullable().openapi({ description });
const headersField = (description: string) => z.record(z.string(), z.string()).nullable().openapi({ description });

export const errorClassSchema = z.enum(DELIVERY_ERROR_CLASSES).nullable().openapi({
  description:
    'How the last attempt failed, where it is known: `http_3xx`, `http_4xx`, `http_5xx` by the status of the answer; `timeout`; `connection`: there was none, or no whole answer; `refused`: this server may not send there; `internal`: it could not be sent; `transform`: the transform of the webhook failed.',
});

/** An attempt of a delivery. Null: there was none, or the attempt is of before this was kept. */
export const deliveryAttemptSchema = z
  .object({
    id: z
      .string()
      .openapi({ description: 'The id of the attempt.', example: 'dlv_1vZ8kQ0aB3xYpL9mWc2T-1763640000123' }),
    at: z.string().openapi({ description: 'When it began, as ISO 8601.' }),
    trigger: z.enum(ATTEMPT_TRIGGERS).nullable().openapi({
      description:
        'Why it was made. `first`: its event; `retry`: the schedule; `manual`: a `retry` or `redeliver` of its owner; `replay`: a replay of past events; `test`.',
    }),
    status_code: z.int().nullable().describe('The HTTP status of the answer. Null: there was none.'),
    error: z.string().nullable().describe('Why it failed, in words. Null: it did not.'),
    error_class: errorClassSchema,
    limit: exceededLimitSchema.optional().openapi({ description: 'The limit that is the reason of the error.' }),
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
      .openapi({ description: 'What each phase took; null where it was not reached, or there was none.' }),
    reused: z.boolean().openapi({ description: 'Its connection had served another request.' }),
    remote_address: z.string().nullable().openapi({ description: 'Null as well behind a proxy.' }),
    location: z.string().nullable().openapi({ description: 'Where a redirect pointed. It is not followed.' }),
    request_headers: headersField('Own headers of the webhook as `[redacted]`.'),
    response_headers: headersField('`set-cookie` as `[redacted]`.'),
    response: z
      .string()
      .nullable()
      .openapi({ description: `The beginning of what was answered, ${LIMITS.maxStoredResponseBytes} bytes of it.` }),
    response_bytes: z
      .int()
      .nullable()
      .openapi({ description: 'Bytes of the answer that are kept, where `response` is not all of them.' }),
    next_attempt_at: z
      .string()
      .nullable()
      .openapi({ description: 'When the next one was to follow, as ISO 8601. Null: none was.' }),
  })
  .openapi('DeliveryAttempt');

export const wholeAttemptSchema = deliveryAttemptSchema
  .extend({
    delivery_id: z.string().describe('The delivery whose attempt it is.'),
    webhook_id: z.string().describe('The webhook of the delivery.'),
    response: z
      .string()
      .nullable()
      .openapi({ description: `What was answered, up to ${LIMITS.maxDeliveryResponseBytes} bytes.` }),
    response_base64: z
      .string()
      .nullable()
      .openapi({ description: 'The same byte for byte, where it is no UTF-8 text; else null.' }),
  })
  .openapi('WholeDeliveryAttempt');

type Presented = z.output<typeof deliveryAttemptSchema>;

export function presentDeliveryAttempt(deliveryId: string, attempt: DeliveryAttempt): Presented {
  const { limit } = attempt;
  const received = headersOf(attempt.response_headers);
  return {
    id: `${deliveryId}-${Date.parse(attempt.at)}`,
    at: attempt.at,
    trigger: attempt.trigger ?? null,
    status_code: attempt.status_code ?? null,
    error: attempt.error ?? null,
    error_class: attempt.error_class ?? null,
    ...(limit === undefined ? {} : { limit }),
    duration_ms: attempt.duration_ms,
    phases: phasesOf(attempt),
    reused: attempt.reused === true,
    remote_address: attempt.remote_address ?? null,
    location: isRedirect(attempt) ? (received?.['location'] ?? null) : null,
    request_headers: headersOf(attempt.request_headers),
    response_headers: received,
    response: attempt.response ?? null,
    response_bytes: attempt.response_bytes ?? null,
    next_attempt_at: attempt.next_attempt_at ?? null,
  };
}

export function presentWholeAttempt({ delivery, attempt, body }: WholeAttempt): z.output<typeof wholeAttemptSchema> {
  const hasBody = body.length > 0;
  return {
    ...presentDeliveryAttempt(delivery.id, attempt),
    delivery_id: delivery.id,
    webhook_id: delivery.webhookId,
    response: hasBody ? body.toString('utf8') : null,
    response_base64: hasBody && !isUtf8(body) ? body.toString('base64') : null,
  };
}

function phasesOf({ phases }: DeliveryAttempt): Presented['phases'] {
  if (phases === undefined) return null;
  const [dns_ms, connect_ms, tls_ms, first_byte_ms, end_ms] = phases;
  return { dns_ms, connect_ms, tls_ms, first_byte_ms, end_ms };
}

function isRedirect({ status_code: status = 0 }: DeliveryAttempt): boolean {
  return status >= 300 && status <= 399;
}

/** Values of a name that comes twice are joined, as RFC 9110 (5.3) has it. */
function headersOf(lines: string | undefined): Record<string, string> | null {
  if (lines === undefined) return null;
  const headers = new Map<string, string>();
  for (const line of lines.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()];
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}
