import type { SIGNATURE_SCHEMES, WEBHOOK_FORMATS, WEBHOOK_METHODS } from '@headwater/shared';

export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];
type WebhookMethod = (typeof WEBHOOK_METHODS)[number];

/**
 * The proof that a webhook's requests bring. It is sealed, and its secrets are never shown.
 */
export type WebhookAuth =
  | { type: 'basic'; username: string; password: string }
  | { type: 'bearer'; token: string }
  | {
      type: 'oauth2_client_credentials';
      tokenUrl: string;
      clientId: string;
      clientSecret: string;
      scope?: string;
    };

/** The same without its secrets. */
export type ShownAuth =
  | { type: 'basic'; username: string }
  | { type: 'bearer' }
  | { type: 'oauth2_client_credentials'; tokenUrl: string; clientId: string; scope?: string };

/** The settings of requests that are no secrets; PEM texts. Absent: as by default. */
export interface RequestOptions {
  method?: WebhookMethod;
  /** Trusted in the place of public authorities. */
  caCertificate?: string;
  clientCertificate?: string;
}

/** How a webhook's requests are to be made. Null: as by default. */
export interface WebhookRequestSettings {
  method?: WebhookMethod | null;
  caCertificate?: string | null;
  /** A certificate and its key come and go together. */
  clientCertificate?: string | null;
  clientKey?: string | null;
  auth?: WebhookAuth | null;
}

export interface ShownRequest extends RequestOptions {
  auth?: ShownAuth;
}

/** The rate that a receiver can follow, as stored with the webhook. Empty: nothing is known. */
export interface AdaptiveRate {
  /** Attempts that may begin in a second. Absent: the ceiling. */
  perSecond?: number;
  /** Usual time to an answer, which follows slowly where answers take longer for good. */
  latencyMs?: number;
  /** Epoch milliseconds of the node that has changed it. */
  changedAtMs?: number;
  loweredAtMs?: number;
}
