import { BuildLimitError } from './package-error.ts';

/** Bytes that one build may download, for all its packages. */
export interface DownloadBudget {
  /** Bytes that were taken. */
  readonly used: number;
  /** Aborts with a BuildLimitError when the budget is exceeded, so that other downloads end too. */
  readonly signal: AbortSignal;
  /** Throws BuildLimitError beyond what there is. */
  take(bytes: number): void;
}

export function createDownloadBudget(maxBytes: number): DownloadBudget {
  const over = new AbortController();
  let used = 0;
  return {
    get used() {
      return used;
    },
    signal: over.signal,
    take(bytes) {
      used += bytes;
      if (used <= maxBytes) return;
      const message = `they are at least ${used} bytes to download; the limit maxPackageDownloadBytes is ${maxBytes} bytes`;
      over.abort(new BuildLimitError(message, { name: 'maxPackageDownloadBytes', value: maxBytes, used }));
      over.signal.throwIfAborted();
    },
  };
}
