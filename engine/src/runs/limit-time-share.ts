/** To count long lists takes time of the database: at most this share of it. */
const SHARE = 0.05;

/** Runs `work`, or nothing while that would exceed its share of the time. */
export function limitTimeShare(work: () => Promise<void>): () => Promise<void> {
  let nextMs = 0;
  return async () => {
    const startMs = performance.now();
    if (startMs < nextMs) return;
    await work();
    nextMs = performance.now() + (performance.now() - startMs) / SHARE;
  };
}
