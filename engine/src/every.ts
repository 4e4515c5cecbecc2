/** Calls `work` again and again, `pauseMs` after it has ended. Answers a stop that waits for the call under way. */
export function every(
  pauseMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let current: Promise<void> = Promise.resolve();
  let timer = setTimeout(turn, pauseMs);
  function turn(): void {
    current = work()
      .catch(onError)
      .finally(() => {
        if (!stopped) timer = setTimeout(turn, pauseMs);
      });
  }
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await current;
  };
}
