import type { SampleRequest } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import type { sampleReceiverSchema, sampleRequestSchema, Shown } from '@headwater/shared/contract';

export function presentSampleReceiver(url: string): Shown<typeof sampleReceiverSchema> {
  const { maxSampleRequests, sampleRequestsKeptMs } = LIMITS;
  return { url, max_requests: maxSampleRequests, kept_seconds: sampleRequestsKeptMs / 1000 };
}

export function presentSampleRequest(request: SampleRequest): Shown<typeof sampleRequestSchema> {
  const { id, webhookId, deliveryId, receivedAtMs, verified, verdict, headers, body, bodyBytes } = request;
  return {
    id,
    webhook_id: webhookId,
    delivery_id: deliveryId,
    received_at: receivedAtMs,
    verified,
    verdict,
    headers,
    body,
    body_bytes: bodyBytes,
  };
}
