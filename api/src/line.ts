import { createPauses } from '@headwater/shared';

/**
 * Requests beyond this number do not wait: each waiting one holds memory, even if its client has
 * gone.
 */
const MAX_WAITING = 1_000;

/** Waits for those before it. */
type Line = () => Promise<void>;

/**
 * Serialises answers that any client can request hundreds of times at once without a key. Other
 * work gets the thread between them.
 */
export function createLine(): Line {
  const giveWay = createPauses()();
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  return async () => {
    if (waiting >= MAX_WAITING) return;
    waiting++;
    last = last.then(giveWay);
    await last;
    waiting--;
  };
}
