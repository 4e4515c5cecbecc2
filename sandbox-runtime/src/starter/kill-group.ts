/**
 * Error codes for an empty group. macOS reports EPERM if all members ended but were not yet waited
 * for; there, all belong to this user.
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
