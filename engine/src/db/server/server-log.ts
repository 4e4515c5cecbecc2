import { copyFile, open, stat, truncate } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

const MAX_LOG_BYTES = 4 * 1024 * 1024;
const CHECK_INTERVAL_MS = 60_000;
const TAIL_BYTES = 4_096;

/** The file that the server writes to; it goes on writing when this process is gone. */
export interface ServerLog {
  /** For the server's stdout and stderr; the caller closes it after the spawn. */
  openForServer(): Promise<FileHandle>;
  sizeBytes(): Promise<number>;
  /** The end of the text written after `fromByte`, at most 4 KB. */
  tail(fromByte: number): Promise<string>;
  stop(): void;
}

/** Keeps `file` under about 4 MB while this process lives; what went before is in `<file>.1`. */
export function createServerLog(file: string, onError: (error: unknown) => void): ServerLog {
  const sizeBytes = async () => (await stat(file).catch(() => undefined))?.size ?? 0;
  const bound = async () => {
    if ((await sizeBytes()) <= MAX_LOG_BYTES) return;
    // The server appends (O_APPEND), so after the cut it goes on at the file's start. A line
    // written in between is lost.
    await copyFile(file, `${file}.1`);
    await truncate(file, 0);
  };
  const timer = setInterval(() => void bound().catch(onError), CHECK_INTERVAL_MS).unref();
  return {
    async openForServer() {
      await bound();
      return open(file, 'a', 0o600);
    },
    sizeBytes,
    async tail(fromByte) {
      const handle = await open(file, 'r');
      try {
        const end = (await handle.stat()).size;
        const start = Math.max(Math.min(fromByte, end), end - TAIL_BYTES);
        const buffer = Buffer.alloc(end - start);
        await handle.read(buffer, 0, buffer.length, start);
        return buffer.toString('utf8').trim();
      } finally {
        await handle.close();
      }
    },
    stop: () => clearInterval(timer),
  };
}
