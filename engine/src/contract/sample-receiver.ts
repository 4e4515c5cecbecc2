import type { Page, PageRequest, Principal } from './base.ts';

/** One attempt of a delivery, as the sample receiver of an account got it. */
export interface SampleRequest {
  id: string;
  webhookId: string;
  deliveryId: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Cut to its beginning if it is long. */
  body: string;
  bodyBytes: number;
  /** Whether the signature fits the body and the secret that the webhook has now. */
  verified: boolean;
  /** `The signature is verified`, or why it is not. */
  verdict: string;
  receivedAtMs: number;
}

/**
 * A receiver for tries: it takes deliveries of its own account's webhooks, and nothing else reaches
 * it.
 */
export interface SampleReceiver {
  /** Its URL is made when it is first asked for, and stays. */
  url(who: Principal): Promise<string>;
  /** Newest first: at most LIMITS.maxSampleRequests, for LIMITS.sampleRequestsKeptMs. */
  requests(who: Principal, page: PageRequest): Promise<Page<SampleRequest>>;
  clear(who: Principal): Promise<void>;
}
