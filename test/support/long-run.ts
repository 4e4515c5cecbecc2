/** Set by `npm run test:long`, which also runs the files `*.nightly.test.ts`. */
export const IS_LONG_RUN = process.env['HEADWATER_LONG_TESTS'] === '1';

/**
 * Number of repetitions in a test: `count` normally, `long` with HEADWATER_LONG_TESTS=1 (`npm run
 * test:long`). More repetitions find smaller leaks and rarer races.
 */
export function longRun(count: number, long: number): number {
  return IS_LONG_RUN ? long : count;
}

/** One case of `every` in every run, all of them in the long one. */
export function sampleCases<T>(cases: readonly T[], every: number): T[] {
  return cases.filter((_, at) => IS_LONG_RUN || at % every === 0);
}
