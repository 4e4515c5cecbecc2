/**
 * Which lanes have changed since something was read: a webhook has another URL. A statement that
 * reads while the change is committed has the old one, and its answer comes to the node after the
 * news of the change.
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
 * Beyond this many the oldest change counts as one of all lanes: what was read before that one,
 * if anything, is read anew.
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
