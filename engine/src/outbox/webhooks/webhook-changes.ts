/**
 * Which webhooks have changed since something was read. What a statement reads while a change is
 * committed has the old URL, and comes to the node after it has heard of the change.
 */
export interface WebhookChanges {
  /** Asked before deliveries are read with their URLs. It only grows. */
  heard(): number;
  /** Of this webhook, or of all. */
  note(webhookId?: string): void;
  /**
   * Whether this node has heard of a change of it after `heard` had answered that. Now and then
   * true where there was none.
   */
  hasChangedSince(webhookId: string, heard: number): boolean;
}

/**
 * Beyond this many the oldest change counts as one of all webhooks: what was read before that one,
 * if anything, is read anew.
 */
const MAX_REMEMBERED = 10_000;

export function createWebhookChanges(maxRemembered = MAX_REMEMBERED): WebhookChanges {
  /** The number of each one's last change, the oldest first. */
  const last = new Map<string, number>();
  let lastOfAll = 0;
  let count = 0;

  return {
    heard: () => count,
    note(webhookId) {
      count++;
      if (webhookId === undefined) {
        last.clear();
        lastOfAll = count;
        return;
      }
      last.delete(webhookId);
      last.set(webhookId, count);
      const [oldest] = last;
      if (last.size <= maxRemembered || oldest === undefined) return;
      last.delete(oldest[0]);
      lastOfAll = oldest[1];
    },
    hasChangedSince: (webhookId, heard) => heard < (last.get(webhookId) ?? lastOfAll),
  };
}
