/**
 * How often a test repeats what it does: `count` in every run, `long` with HEADWATER_LONG_TESTS=1
 * (`npm run test:long`). More repetitions find smaller leaks and rarer races.
 */
export function longRun(count: number, long: number): number {
  return process.env['HEADWATER_LONG_TESTS'] === '1' ? long : count;
}
