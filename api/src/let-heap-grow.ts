import { setFlagsFromString } from 'node:v8';

/**
 * The heap may grow to four times what was alive at the last collection, buffers included, before
 * the next one: the most that V8 lets any heap grow. By itself it collects whenever 64 MB of
 * buffers have come and gone, however few of them live: 5 MB that a run puts out pass through as
 * many buffers as make a collection of the whole heap, 60 ms of two processors.
 */
const FLAGS = ['--external-memory-accounted-in-global-limit', '--heap-growing-percent=300'];

/** A Node that does not know them ignores them. */
export function letHeapGrow(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
