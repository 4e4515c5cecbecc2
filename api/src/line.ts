import { createRests } from '@headwater/shared';

/** More who wait are not held up: each of them is memory, also when its client has gone. */
const MAX_WAITING = 1_000;

/** Waits for those before it. */
type Line = () => Promise<void>;

/**
 * For answers that anybody can ask for hundreds of times at once, without a key: they are given one
 * after the other, and others have the thread in between.
 */
export function createLine(): Line {
  const giveWay = createRests()();
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
