/**
 * Calls `work` again and again, `pauseMs` after it has ended. Answers a stop that waits for the
 * call under way.
 */
export function every(
  pauseMs: number | (() => number),
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let current: Promise<void> = Promise.resolve();
  const nextMs = () => (typeof pauseMs === 'number' ? pauseMs : pauseMs());
  let timer = setTimeout(turn, nextMs());
  function turn(): void {
    current = work()
      .catch(onError)
      .finally(() => {
        if (!stopped) timer = setTimeout(turn, nextMs());
      });
  }
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await current;
  };
}
