import { writeFileSync } from 'node:fs';

/**
 * The share of the process's session against those of others. False where the kernel has no such
 * shares, or does not let us set them now.
 */
export function setSessionNice(pid: number, nice: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
    return true;
  } catch {
    // The niceness of the threads has to do.
    return false;
  }
}
