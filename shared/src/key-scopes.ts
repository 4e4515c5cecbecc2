/**
 * The scopes of an API key. `full`: everything that its account may. `read`: every read, without
 * secrets. `publish`: send events. `webhooks`: webhooks, their subscriptions and deliveries.
 */
export const KEY_SCOPES = ['full', 'read', 'publish', 'webhooks'] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];
