/** A preview of a transform, saved or not, on past events or on one that is given. */
export interface TransformPreviewRequest {
  /** By id or key. Default: the transform of the webhook. */
  componentId?: string;
  /** In its place: code that is not saved. */
  componentCode?: string;
  /** `<emitter id>-<event id>`, or `<event id>`. */
  eventIds?: readonly string[];
  event?: unknown;
  /** How many of the webhook's newest deliveries, where no event is given. Default 3. */
  last?: number;
  /** Events that tell of runs are not found. */
  emittedAlone?: boolean;
}

/** Without the webhook's own headers, its proof and its signature. */
export interface PreviewedRequest {
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** The body has more than LIMITS.maxPreviewedBodyChars. */
  isCut: boolean;
}

export type TransformPreview = {
  eventId: string;
  emitId: string;
  emitterId: string;
  channel: string;
  before: PreviewedRequest;
  /** The first lines that it logged. */
  logs: readonly string[];
} & (
  | { outcome: 'sent'; after: PreviewedRequest }
  | { outcome: 'dropped'; reason: string }
  | { outcome: 'failed'; error: string }
);
