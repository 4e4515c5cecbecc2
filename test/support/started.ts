import { afterEach } from 'vitest';

export interface Started {
  /** Waits for it, and has it stopped after the test. */
  started<T extends { stop: () => Promise<unknown> }>(starting: Promise<T>): Promise<T>;
  /** Called after the test, those that came last first. */
  stops: (() => Promise<unknown>)[];
}

/** Stops the parts that each test of a file started. Call it once, at the top of the file. */
export function stopAfterEach(): Started {
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0).toReversed()) await stop();
  });
  return {
    stops,
    async started(starting) {
      const it = await starting;
      stops.push(it.stop);
      return it;
    },
  };
}
