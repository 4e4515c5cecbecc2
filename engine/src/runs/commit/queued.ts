/** Work that waits, or would wait, in the database for any node. */
export interface Queued {
  invocations: number;
  /** Characters of these invocations' events, as JSON; about as many bytes. */
  chars: number;
  deliveries: number;
  /** Deliveries of webhooks that are stopped, or drain. */
  held: number;
}

export const NOTHING_QUEUED: Queued = { invocations: 0, chars: 0, deliveries: 0, held: 0 };

export function sumOf(a: Queued, b: Partial<Queued>): Queued {
  return {
    invocations: a.invocations + (b.invocations ?? 0),
    chars: a.chars + (b.chars ?? 0),
    deliveries: a.deliveries + (b.deliveries ?? 0),
    held: a.held + (b.held ?? 0),
  };
}
