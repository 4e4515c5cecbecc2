/**
 * The scopes of an API key. `full`: everything that its account may. `read`: every read, without
 * secrets. `publish`: send events. `webhooks`: webhooks, their subscriptions and deliveries.
 * `deploy`: make and change sources, workflows and components, without events or secrets.
 */
export const KEY_SCOPES = ['full', 'read', 'publish', 'webhooks', 'deploy'] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];
