import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS, type LogLine } from '@headwater/shared';
import type { AddedPart, HeldHook, HeldLease, LivePart } from './add-live-lines.sql.ts';
import { isDatabaseUnavailable } from '../db/index.ts';
import { isWorkflow, storableText, storeLines } from '../events/index.ts';
import type { Log } from '../contract/index.ts';

interface LiveRun {
  accountId: string;
  emitterId: string;
  lease: HeldLease | HeldHook;
  /** The step, for a workflow. */
  namespace?: string;
}

/** The lines of one try of a run, or of a step. */
export interface LiveTry {
  add(line: LogLine): void;
  /**
   * Nothing more is shown. Resolves to how many of its lines, from the first one on, followers are
   * shown before the run's record.
   */
  end(): Promise<number>;
}

export interface LiveLines {
  begin(run: LiveRun): LiveTry;
  stop(): Promise<void>;
}

export interface LiveLinesOptions {
  store: (parts: readonly LivePart[]) => Promise<AddedPart[]>;
  onStored: (parts: readonly AddedPart[]) => void;
  /** Bytes that were added to the history of an account. */
  onBytes: (accountId: string, chars: number) => void;
  log: Log;
}

interface Try {
  run: LiveRun;
  nth: number;
  /** Not taken yet. */
  lines: LogLine[];
  shown: number;
  /** A part of it is being stored. */
  isStoring: boolean;
  /** When its next part may be stored; each part makes the time until the next longer. */
  dueAtMs: number;
  pauseMs: number;
  isOver: boolean;
}

/**
 * Shows lines of runs under way: those that have not ended a moment after their first line. All
 * runs of this node share one timer and one statement at a time. So quick or silent runs cost
 * nothing, and thousands of verbose runs use one connection. The stored lines of one run, and of
 * all runs, are bounded: the rest of a flood comes with the records.
 *
 * A try is `waiting` from its first line on. A turn takes a part of each try that is due. A stored
 * part counts as shown. `end` waits for a part that is being stored. After a failure the same parts
 * are stored again, because the outcome is unknown.
 */
export function createLiveLines(options: LiveLinesOptions): LiveLines {
  const waiting = new Set<Try>();
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> = Promise.resolve();
  let isStopping = false;
  let nextTry = 1;

  function schedule(): void {
    if (timer === undefined && waiting.size > 0 && !isStopping) timer = setTimeout(startTurn, LIMITS.liveLinesTurnMs);
  }

  function startTurn(): void {
    turn = storeTurn(waiting, options, () => isStopping)
      .catch((err: unknown) => options.log.error({ err }, NOT_SHOWN))
      .finally(() => {
        timer = undefined;
        schedule();
      });
  }

  return {
    begin(run) {
      const one = newTry(run, nextTry++);
      return {
        add(line) {
          if (one.isOver) return;
          if (one.lines.length === 0 && one.shown === 0) one.dueAtMs = performance.now() + LIMITS.liveLinesTurnMs;
          one.lines.push(line);
          waiting.add(one);
          schedule();
        },
        async end() {
          one.isOver = true;
          waiting.delete(one);
          if (one.isStoring) await turn;
          return one.shown;
        },
      };
    },
    async stop() {
      isStopping = true;
      clearTimeout(timer);
      await turn;
    },
  };
}

const NOT_SHOWN = 'log lines of runs that go on could not be shown';

function newTry(run: LiveRun, nth: number): Try {
  const pauseMs = LIMITS.liveLinesTurnMs;
  return { run, nth, lines: [], shown: 0, isStoring: false, dueAtMs: 0, pauseMs, isOver: false };
}

async function storeTurn(waiting: Set<Try>, options: LiveLinesOptions, isStopping: () => boolean): Promise<void> {
  const taken = takeDue(waiting);
  if (taken.length === 0) return;
  try {
    const parts = await Promise.all(taken.map(([one, lines]) => partOf(one, lines)));
    const added = await storeUntilKnown(parts, options, isStopping);
    const known = new Set(added.map(({ id }) => id));
    for (const [index, [one, lines]] of taken.entries()) {
      const part = parts[index];
      if (part !== undefined && known.has(part.id)) {
        one.shown += lines.length;
        options.onBytes(part.accountId, part.logs.length);
      } else {
        // Its lease was lost, or it must not be stored: its lines come with its record, or are
        // discarded.
        one.isOver = true;
        waiting.delete(one);
      }
    }
    options.onStored(added);
  } finally {
    for (const [one] of taken) one.isStoring = false;
  }
}

/**
 * Which of them are there. After a lost connection that is not known, and parts that are there are
 * not stored again.
 */
async function storeUntilKnown(
  parts: readonly LivePart[],
  { store, log }: LiveLinesOptions,
  isStopping: () => boolean,
): Promise<AddedPart[]> {
  for (;;) {
    try {
      return await store(parts);
    } catch (err) {
      if (isDatabaseUnavailable(err) && !isStopping()) {
        await sleep(LIMITS.liveLinesPauseMs);
        continue;
      }
      log.warn({ err, parts: parts.length }, NOT_SHOWN);
      return [];
    }
  }
}

async function partOf({ run, nth, shown }: Try, lines: readonly LogLine[]): Promise<LivePart> {
  const { accountId, emitterId, namespace, lease } = run;
  const holder = 'change' in lease ? lease.change.changeId : `${lease.leasedBy}.${lease.claim}`;
  return {
    id: `${lease.id}.${holder}.${nth}.${shown}`,
    accountId,
    emitterId,
    isWorkflow: isWorkflow(emitterId),
    lease,
    namespace,
    firstLine: shown,
    logs: storableText(await storeLines(lines)),
  };
}

/** Some lines of each try that is due, of tenants in turn, and no more than a turn stores. */
function takeDue(waiting: Set<Try>): [Try, LogLine[]][] {
  const nowMs = performance.now();
  const due = [...waiting].filter(({ dueAtMs }) => dueAtMs <= nowMs);
  const taken: [Try, LogLine[]][] = [];
  let left: number = LIMITS.liveLinesTurnChars;
  for (const one of inTurns([...Map.groupBy(due, ({ run }) => run.accountId).values()])) {
    if (left <= 0) break;
    const lines = one.lines.splice(0, countWithin(one.lines, Math.min(left, LIMITS.liveLinesPartChars)));
    for (const { message } of lines) left -= message.length + LINE_CHARS;
    one.isStoring = true;
    one.pauseMs = Math.min(LIMITS.liveLinesPauseMs, one.pauseMs * 2);
    one.dueAtMs = nowMs + one.pauseMs;
    taken.push([one, lines]);
    // The rest of it waits behind the others.
    waiting.delete(one);
    if (one.lines.length > 0) waiting.add(one);
  }
  return taken;
}

function* inTurns<T>(lists: readonly (readonly T[])[]): Generator<T> {
  for (let index = 0; lists.some((list) => index < list.length); index++) {
    for (const list of lists) {
      const item = list[index];
      if (item !== undefined) yield item;
    }
  }
}

/** Bytes that a line takes besides its text. */
const LINE_CHARS = 64;

/** At least one. */
function countWithin(lines: readonly LogLine[], chars: number): number {
  let sum = 0;
  const end = lines.findIndex(({ message }) => (sum += message.length + LINE_CHARS) > chars);
  return end === -1 ? lines.length : Math.max(1, end);
}
