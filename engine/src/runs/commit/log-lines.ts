import type { LogLineRecord } from '../../contract/index.ts';
import { readStoredLines } from '../../events/index.ts';

/**
 * The place of a run among its emitter's records: for a source the parts of an event id, for a
 * workflow the transaction that ended the execution, and its id.
 */
export interface LogPlace {
  major: number;
  minor: string;
}

/** Log lines of one run or execution, or a part of them that is shown while it goes on. */
export interface LoggedRun {
  id: string;
  place: LogPlace;
  endedAtMs: number;
  /** For a part: index of its first line among those of the run or step. Default: 0. */
  firstLine?: number;
  /**
   * JSON text, for an execution by step. `shown`: number of lines, from the first on, that were
   * shown before.
   */
  logs: readonly { namespace?: string; text: string; shown?: number }[];
  error?: { code: string; message: string; stack?: string | null; namespace?: string };
}

/** Position of a stream of lines: after line `index` of the run at this place. */
export interface LogCursor extends LogPlace {
  index: number;
}

/** Behind every line of a run. */
export const LAST_LINE = 999_999_999;

type Line = Omit<LogLineRecord, 'id' | 'runId' | 'index'> & { wasShown?: true };

/**
 * The lines of a run that belong here, in order. Its error comes last, so that a reader of logs
 * alone sees it.
 */
export function linesOf({ id: runId, place, endedAtMs, firstLine = 0, logs, error }: LoggedRun): LogLineRecord[] {
  const lines: Line[] = logs.flatMap(({ namespace, text, shown = 0 }) =>
    readStoredLines(text).map((line, index) => ({
      ...line,
      ...stepOf(namespace),
      ...(index < shown ? { wasShown: true as const } : {}),
    })),
  );
  if (error !== undefined) {
    const { code, namespace } = error;
    lines.push({ atMs: endedAtMs, level: 'error', message: messageOf(error), code, ...stepOf(namespace) });
  }
  return lines.flatMap(({ wasShown = false, ...line }, at) => {
    const index = firstLine + at;
    return wasShown ? [] : [{ ...line, id: `${place.major}-${place.minor}-${index}`, runId, index }];
  });
}

const stepOf = (namespace: string | undefined) => (namespace === undefined ? {} : { namespace });

/** V8's stacks begin with the message, after the name of the error. */
function messageOf({ code, message, stack }: NonNullable<LoggedRun['error']>): string {
  return stack?.includes(message) === true ? stack : `${code}: ${message}`;
}

const RUN_LINE = /^(\d{1,15})-(\d{1,9})-(\d{1,9})$/;
const EXECUTION_LINE = /^(\d{1,15})-(exec_\w{1,40})-(\d{1,9})$/;

/**
 * Undefined for text that is not the id of a line of such an emitter: a place of the other kind is
 * none in its records.
 */
export function parseLogCursor(text: string, { ofWorkflow }: { ofWorkflow: boolean }): LogCursor | undefined {
  const match = (ofWorkflow ? EXECUTION_LINE : RUN_LINE).exec(text);
  return match === null ? undefined : { major: Number(match[1]), minor: String(match[2]), index: Number(match[3]) };
}
