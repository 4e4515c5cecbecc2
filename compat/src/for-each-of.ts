/**
 * Calls `work` for each item in order, `concurrency` at a time. `done()` counts the items whose
 * work has called it.
 */
export async function forEachOf<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T, done: () => number) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  let count = 0;
  const done = () => {
    count += 1;
    return count;
  };
  const drain = async () => {
    for (const item of queue) await work(item, done);
  };
  await Promise.all(Array.from({ length: concurrency }, drain));
}
