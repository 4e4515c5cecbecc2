import type { WebhookFormat } from '../../contract/index.ts';
import type { ReceiverSettings } from '../webhooks/receiver-settings.ts';

/** A delivery that this node has leased and is to attempt, with everything the attempt needs. */
export interface DueDelivery {
  id: string;
  accountId: string;
  webhookId: string;
  url: string;
  /** The signing secret as it is stored; opened with the account id. */
  sealedSecret: string;
  format: WebhookFormat;
  settings?: ReceiverSettings;
  emitterId: string;
  /** With seq: the event's id, `1606511826306-0`. */
  indexedAtMs: number;
  seq: number;
  /** The invocation that its trace began with. Absent: a hook emitted the event. */
  traceId?: string;
  /** Empty for the default channel. */
  channel: string;
  /** JSON text as it was emitted; never parsed here. */
  data: string;
  /** Epoch milliseconds that the author gave. */
  ts?: number;
  /** Why it is attempted, where neither its event nor the schedule is the reason. */
  nextTrigger?: 'manual' | 'replay';
  /** The replay that made it. */
  replayId?: string;
  /** It is a test by the webhook's owner, and stored nowhere. */
  isTest?: true;
  /** Attempts made before. */
  attemptCount: number;
}
