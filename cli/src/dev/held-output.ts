import type { Output } from '../terminal/output.ts';

/** Holds back records while a question is open: they would overwrite it. */
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
