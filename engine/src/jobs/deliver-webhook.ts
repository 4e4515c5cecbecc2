import type { Deliverer } from '../delivery/deliverer.ts';
import type { DeliverWebhookPayload } from './tasks.ts';

/** Hands due deliveries of one webhook to this node. */
export async function deliverWebhookLane(deliverer: Deliverer, payload: DeliverWebhookPayload): Promise<void> {
  await deliverer.runLane(payload);
}
