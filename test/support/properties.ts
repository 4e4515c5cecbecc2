import * as fc from 'fast-check';

/** A number, or `random` to look where no run has looked before. */
const SEED_VARIABLE = 'HEADWATER_TEST_SEED';
const DEFAULT_SEED = 1;

const given = process.env[SEED_VARIABLE];
// The same cases each time: whether a change is taken must not hang on luck.
if (given !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given ?? DEFAULT_SEED) });

export { fc };
