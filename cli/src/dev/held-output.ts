import type { Output } from '../terminal/output.ts';

/**
 * Records that come while somebody is asked something are shown afterwards: they would write over
 * the question.
 */
export interface HeldOutput {
  record: Output['record'];
  /** Holds records back until the work ends. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

export function holdOutput(output: Pick<Output, 'record'>): HeldOutput {
  let holders = 0;
  const held: Parameters<Output['record']>[] = [];
  return {
    record(...record) {
      if (holders === 0) output.record(...record);
      else held.push(record);
    },
    async during(work) {
      holders++;
      try {
        return await work();
      } finally {
        holders--;
        if (holders === 0) for (const record of held.splice(0)) output.record(...record);
      }
    },
  };
}
