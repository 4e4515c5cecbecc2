import type { ComponentBundle } from '@headwater/sandbox-runtime';
import type { ExceededLimit } from '@headwater/shared';
import type { Principal, TransformPreview, TransformPreviewRequest } from '../../contract/index.ts';
import type { DueDelivery } from '../deliveries/due-delivery.ts';
import type { WebhookRow } from '../webhooks/read-webhooks.sql.ts';
import type { TransformedRequest, TransformResult } from './transform-request.ts';

/** The run of a transform, for one delivery. */
export interface TransformRun {
  before: TransformedRequest;
  result: (TransformResult & { limit?: ExceededLimit }) | { kind: 'stopped' };
  /** The first lines that it logged. */
  logs: string[];
}

export interface GivenTransform {
  componentId: string;
  /** Default: that of the component as it is saved. */
  bundle?: ComponentBundle;
}

/** Never rejects. `signal`: aborted when the outcome is no longer needed. */
export type RunTransform = (
  delivery: DueDelivery,
  transform: GivenTransform,
  signal: AbortSignal,
) => Promise<TransformRun>;

export interface TransformsOfWebhooks {
  /**
   * The id of the transform that is named. Throws NOT_FOUND, and INVALID_REQUEST for another type.
   */
  choose(who: Principal, idOrKey: string): Promise<string>;
  /** See Webhooks.previewTransform. */
  preview(who: Principal, webhook: WebhookRow, request: TransformPreviewRequest): Promise<TransformPreview[]>;
}
