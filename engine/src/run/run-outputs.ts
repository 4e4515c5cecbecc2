import { type EmittedEvent, type HttpResponse, LIMITS, type LogLine } from '@headwater/shared';
import type { FetchOutcome, FetchRequest, RunHost } from '@headwater/sandbox-runtime';

export interface OutputPart {
  emits: EmittedEvent[];
  dbWrites: Map<string, string>;
}

export interface RunOutputsOptions {
  readDbValue: (key: string) => Promise<string | undefined>;
  fetch: (request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
  respond: (response: HttpResponse) => void;
  /** A long run's part is full: commit it. Resolves when it is durable. Absent: the run commits once, at its end. */
  commitPart: ((part: OutputPart) => Promise<void>) | undefined;
  nowMs: () => number;
}

export interface RunOutputs {
  host: RunHost;
  logs: LogLine[];
  /** Waits for parts on their way and hands over what is left for the final commit. */
  finish(): Promise<OutputPart>;
  /** Rejects as soon as a part could not be committed. */
  failed(): unknown;
}

/**
 * Collects what a run emits, stores and logs until its commit. Reads of `$.service.db` see the run's own writes first.
 * After enough emits, bytes or time a whole part is committed while the run goes on; one part at a time, in order.
 */
export function createRunOutputs(options: RunOutputsOptions): RunOutputs {
  let part = emptyPart();
  let partBytes = 0;
  let partSinceMs = options.nowMs();
  const written = new Map<string, string>();
  const logs: LogLine[] = [];
  let committing: Promise<void> = Promise.resolve();
  let failure: unknown;
  let busy = false;

  function maybeCommitPart(): void {
    if (options.commitPart === undefined || busy || !isFull()) return;
    busy = true;
    const full = part;
    part = emptyPart();
    partBytes = 0;
    partSinceMs = options.nowMs();
    committing = options.commitPart(full).then(
      () => {
        busy = false;
      },
      (error: unknown) => {
        failure = error ?? new Error('A part of the run could not be committed');
      },
    );
  }

  function isFull(): boolean {
    return (
      part.emits.length >= LIMITS.partialCommitEmits ||
      partBytes >= LIMITS.partialCommitBytes ||
      (part.emits.length > 0 && options.nowMs() - partSinceMs >= LIMITS.partialCommitMs)
    );
  }

  const host: RunHost = {
    emit(event) {
      if (part.emits.length === 0) partSinceMs = options.nowMs();
      part.emits.push(event);
      partBytes += event.data.length;
      maybeCommitPart();
    },
    log(line) {
      logs.push(line);
    },
    respond: options.respond,
    dbSet(key, valueJson) {
      part.dbWrites.set(key, valueJson);
      written.set(key, valueJson);
      partBytes += valueJson.length;
      maybeCommitPart();
    },
    async dbGet(key) {
      return written.get(key) ?? (await options.readDbValue(key));
    },
    fetch: options.fetch,
  };
  return {
    host,
    logs,
    async finish() {
      await committing;
      return part;
    },
    failed: () => failure,
  };
}

function emptyPart(): OutputPart {
  return { emits: [], dbWrites: new Map() };
}
