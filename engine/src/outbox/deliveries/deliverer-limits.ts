import { LIMITS } from '@headwater/shared';

/** All of one node. Defaults are the constants of LIMITS that each one names. */
export interface DelivererLimits {
  /** One attempt, connecting included: deliveryTimeoutMs. */
  timeoutMs: number;
  /** Attempts at the same time: maxDeliveriesPerWebhook, maxDeliveriesInFlight. */
  maxPerWebhook: number;
  maxInFlight: number;
  /** In memory: maxHeldDeliveries, maxHeldDeliveriesPerWebhook, maxHeldDeliveryBytes. */
  maxHeld: number;
  maxHeldPerWebhook: number;
  maxHeldBytes: number;
  /** Time that a stop waits for attempts in flight: deliveryDrainMs. */
  drainMs: number;
}

export function completeLimits(given: Partial<DelivererLimits> = {}): DelivererLimits {
  return {
    timeoutMs: LIMITS.deliveryTimeoutMs,
    maxPerWebhook: LIMITS.maxDeliveriesPerWebhook,
    maxInFlight: LIMITS.maxDeliveriesInFlight,
    maxHeld: LIMITS.maxHeldDeliveries,
    maxHeldPerWebhook: LIMITS.maxHeldDeliveriesPerWebhook,
    maxHeldBytes: LIMITS.maxHeldDeliveryBytes,
    drainMs: LIMITS.deliveryDrainMs,
    ...given,
  };
}
