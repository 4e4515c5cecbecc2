/**
 * Longest uninterrupted piece of `work` on this thread, in milliseconds of CPU time. Unlike wall
 * time, it does not include other load.
 */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = process.threadCpuUsage();
  const endTurn = () => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1_000);
  };
  const timer = setInterval(endTurn, 1);
  try {
    await work();
    // The last piece, which no timer has come after.
    endTurn();
    return longest;
  } finally {
    clearInterval(timer);
  }
}

/** CPU time of the loop below, on the machine for which the tests' bounds are set. */
const USUAL_LOOP_MS = 4;
const LOOP_CHARS = 4_000_000;
/** The first are not compiled yet. */
const LOOPS = 6;

/**
 * How much slower than that machine this one is at this moment, at least 1: bounds on processor
 * time are meant in its milliseconds.
 */
export function slowness(): number {
  const text = 'ab'.repeat(LOOP_CHARS / 2);
  const loopMs = () => {
    const before = process.threadCpuUsage();
    let sum = 0;
    for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 31);
    const { user, system } = process.threadCpuUsage(before);
    return sum === 0 ? 0 : (user + system) / 1_000;
  };
  return Math.max(1, Math.min(...Array.from({ length: LOOPS }, loopMs)) / USUAL_LOOP_MS);
}
