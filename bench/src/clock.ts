// performance.now() and hrtime read the same monotonic clock; hrtime's zero is the machine's, so
// that two processes agree.
const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds of the machine's monotonic clock: comparable between processes. */
export function machineMs(): number {
  return OFFSET_MS + performance.now();
}
