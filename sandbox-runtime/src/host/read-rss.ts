import { readFile } from 'node:fs/promises';

const PAGE_BYTES = 4096;

/** Resident memory from /proc; undefined where there is none (macOS), and the isolates' own limits have to do. */
export async function readRssMb(pid: number | undefined): Promise<number | undefined> {
  try {
    const pages = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')[1];
    return (Number(pages) * PAGE_BYTES) / 2 ** 20;
  } catch {
    // The process is gone, or the platform has no /proc.
    return undefined;
  }
}
