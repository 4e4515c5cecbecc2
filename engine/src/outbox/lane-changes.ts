/**
 * Lanes that have changed since a read: for example, a webhook has another URL. A statement that
 * reads while the change commits returns the old URL. Its result may reach the node after the
 * notification of the change.
 */
export interface LaneChanges {
  /** Asked before items are read. It only grows. */
  heard(): number;
  /** Notes a change of this lane, or of all lanes. */
  note(laneId?: string): void;
  /**
   * Whether this node has heard of a change of it after `heard` had answered that. Now and then
   * true where there was none.
   */
  hasChangedSince(laneId: string, heard: number): boolean;
}

/**
 * Beyond this many, the oldest change counts as a change of all lanes. Items read before it are
 * then read again.
 */
const MAX_REMEMBERED = 10_000;

export function createLaneChanges(maxRemembered = MAX_REMEMBERED): LaneChanges {
  /** The number of each one's last change, the oldest first. */
  const last = new Map<string, number>();
  let lastOfAll = 0;
  let count = 0;

  return {
    heard: () => count,
    note(laneId) {
      count++;
      if (laneId === undefined) {
        last.clear();
        lastOfAll = count;
        return;
      }
      last.delete(laneId);
      last.set(laneId, count);
      const [oldest] = last;
      if (last.size <= maxRemembered || oldest === undefined) return;
      last.delete(oldest[0]);
      lastOfAll = oldest[1];
    },
    hasChangedSince: (laneId, heard) => heard < (last.get(laneId) ?? lastOfAll),
  };
}
