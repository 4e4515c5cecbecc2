import { isUtf8 } from 'node:buffer';
import type { DeliveryAttempt, WholeAttempt } from '@headwater/engine';
import type { deliveryAttemptSchema, Shown, wholeAttemptSchema } from '@headwater/shared/contract';

type Presented = Shown<typeof deliveryAttemptSchema>;

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

export function presentWholeAttempt({ delivery, attempt, body }: WholeAttempt): Shown<typeof wholeAttemptSchema> {
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
