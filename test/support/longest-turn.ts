/** What `work` takes of this thread in one piece, at the most, in milliseconds of processor time: others on the machine do not count. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1_000);
  }, 1);
  try {
    await work();
    return longest;
  } finally {
    clearInterval(timer);
  }
}
