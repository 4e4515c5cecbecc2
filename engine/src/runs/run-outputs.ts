import { type EmittedEvent, eventChars, type HttpResponse, LIMITS, type LogLine } from '@headwater/shared';
import { orderEvents } from './commit/order-events.ts';
import { storableText } from '../events/index.ts';
import type { FetchOutcome, FetchRequest, RunHost } from '@headwater/sandbox-runtime';
import type { LiveTry } from './live-lines.ts';

export interface OutputPart {
  emits: EmittedEvent[];
  dbWrites: Map<string, string>;
}

export interface RunOutputsOptions {
  readDbValue: (key: string) => Promise<string | undefined>;
  fetch: (request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
  dataStore: RunHost['dataStore'];
  /** `hasOutput`: the run has emitted or stored something before. */
  respond: (response: HttpResponse, hasOutput: boolean) => void;
  /**
   * A long run's part is full: commit it. Resolves when it is durable. Absent: the run commits
   * once, at its end.
   */
  commitPart: ((part: OutputPart) => Promise<void>) | undefined;
  /**
   * Parts are committed at the end of the run, when the order of all events is known. Default: from
   * the first event with a `ts` on.
   */
  holdsParts?: boolean;
  /** Shows lines while the run goes on. Default: they are shown when it has ended. */
  live?: LiveTry;
  nowMs: () => number;
}

export interface RunOutputs {
  host: RunHost;
  logs: LogLine[];
  /**
   * Waits for parts under way and commits the oldest parts while more than one is left. Returns the
   * rest for the final commit.
   */
  finish(): Promise<OutputPart>;
  /** Parts that are being committed are committed, or have failed. */
  settled(): Promise<void>;
  /** Rejects as soon as a part could not be committed. */
  failed(): unknown;
  /**
   * The run has ended. Resolves to how many of its lines, from the first one on, were shown before.
   */
  shown(): Promise<number>;
}

/**
 * Collects the events, values and lines of a run until its commit. Reads of `$.service.db` see the
 * run's own writes first. After enough emits, bytes or time a whole part is committed while the run
 * continues; one part at a time, in order. From the first event with a `ts` on, events wait for the
 * end of the run: an older one may follow, and a committed event keeps its place.
 */
export function createRunOutputs(options: RunOutputsOptions): RunOutputs {
  const collected = createPartBuffer(options);
  const written = new Map<string, string>();
  const logs: LogLine[] = [];
  let hasOutput = false;
  const parts = createPartCommits(options.commitPart, collected);
  const host: RunHost = {
    emit(event) {
      hasOutput = true;
      collected.emit(event);
      parts.commitIfFull();
    },
    log(line) {
      logs.push(line);
      options.live?.add(line);
    },
    respond: (response) => options.respond(response, hasOutput),
    dbSet(givenKey, valueJson) {
      hasOutput = true;
      const key = storableText(givenKey);
      written.set(key, valueJson);
      collected.dbSet(key, valueJson);
      parts.commitIfFull();
    },
    async dbGet(givenKey) {
      const key = storableText(givenKey);
      // A key that was deleted has the empty text.
      return (written.get(key) ?? (await options.readDbValue(key))) || undefined;
    },
    fetch: options.fetch,
    dataStore: options.dataStore,
  };
  return {
    host,
    logs,
    async finish() {
      await parts.settled();
      return parts.commitAllButLast(collected.take());
    },
    settled: parts.settled,
    failed: parts.failure,
    shown: async () => (await options.live?.end()) ?? 0,
  };
}

interface PartBuffer {
  emit(event: EmittedEvent): void;
  dbSet(key: string, valueJson: string): void;
  isFull(): boolean;
  take(): OutputPart;
}

function createPartBuffer({ nowMs, holdsParts = false }: Pick<RunOutputsOptions, 'nowMs' | 'holdsParts'>): PartBuffer {
  let part: OutputPart = { emits: [], dbWrites: new Map() };
  let bytes = 0;
  let sinceMs = 0;
  let isHeld = holdsParts;
  return {
    emit(event) {
      if (part.emits.length === 0) sinceMs = nowMs();
      isHeld ||= event.ts !== undefined;
      part.emits.push(event);
      bytes += eventChars(event);
    },
    dbSet(key, valueJson) {
      part.dbWrites.set(key, valueJson);
      bytes += key.length + valueJson.length + LIMITS.dbEntryOverheadBytes;
    },
    isFull: () =>
      !isHeld &&
      (part.emits.length >= LIMITS.partialCommitEmits ||
        bytes >= LIMITS.partialCommitBytes ||
        (part.emits.length > 0 && nowMs() - sinceMs >= LIMITS.partialCommitMs)),
    take() {
      const taken = part;
      part = { emits: [], dbWrites: new Map() };
      bytes = 0;
      return taken;
    },
  };
}

function createPartCommits(commitPart: RunOutputsOptions['commitPart'], collected: PartBuffer) {
  let committing: Promise<void> = Promise.resolve();
  let isBusy = false;
  let failure: unknown;

  async function commit(part: OutputPart): Promise<void> {
    isBusy = true;
    try {
      await commitPart?.(part);
      isBusy = false;
    } catch (error) {
      // Stays busy: nothing more of this run may be committed as if the part before had been.
      failure = error;
    }
  }

  return {
    commitIfFull() {
      if (commitPart !== undefined && !isBusy && collected.isFull()) committing = commit(collected.take());
    },
    settled: () => committing,
    async commitAllButLast({ emits, dbWrites }: OutputPart): Promise<OutputPart> {
      if (commitPart === undefined) return { emits, dbWrites };
      const parts = inParts(orderEvents(emits));
      const last = parts.pop() ?? [];
      for (const part of parts) if (failure === undefined) await commit({ emits: part, dbWrites: new Map() });
      return { emits: last, dbWrites };
    },
    failure: () => failure,
  };
}

function inParts(events: readonly EmittedEvent[]): EmittedEvent[][] {
  const parts: EmittedEvent[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const event of events) {
    if (bytes >= LIMITS.partialCommitBytes || (parts.at(-1)?.length ?? 0) >= LIMITS.partialCommitEmits) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(event);
    bytes += eventChars(event);
  }
  return parts;
}
