/**
 * That nobody is left in a group. macOS says EPERM where all of it has ended and was not waited for
 * yet; there, all are this user's.
 */
const NOBODY_LEFT = process.platform === 'darwin' ? ['ESRCH', 'EPERM'] : ['ESRCH'];

/**
 * Kills a process with everything in its group. Answers why not where the system does not let us:
 * then it lives on.
 */
export function killGroup(pid: number): Error | undefined {
  try {
    process.kill(-pid, 'SIGKILL');
    return undefined;
  } catch (error) {
    return NOBODY_LEFT.includes((error as NodeJS.ErrnoException).code ?? '') ? undefined : (error as Error);
  }
}
