import type { Page } from '@headwater/engine';
import { createGiveWay, HeadwaterError, LIMITS, NDJSON_TYPE } from '@headwater/shared';
import { recordParts } from './raw-json.ts';

/** How a list is exported as NDJSON, page after page. */
export interface ExportedList {
  /** Parameters of each page, beside those that were given. */
  parameters: Readonly<Record<string, unknown>>;
  /** Cursor behind a record, for `after`. */
  cursorOf(record: object): string;
  /** The record has not all of its data as there was no room on the page. Default: each has all. */
  isCut?(record: object): boolean;
}

/** Exports that are open, each of which holds a page. */
export interface OpenExports {
  /** Throws RATE_LIMITED where the account, or the node, has as many open as it may. */
  open(accountId: string): { close(): void };
}

const RETRY_AFTER_SECONDS = 10;

export function createOpenExports(): OpenExports {
  const ofAccounts = new Map<string, number>();
  let all = 0;
  return {
    open(accountId) {
      const own = ofAccounts.get(accountId) ?? 0;
      if (own >= LIMITS.maxExportsPerTenant || all >= LIMITS.maxExports) {
        const message = `As many exports are open as may be: ${LIMITS.maxExportsPerTenant} of an account, ${LIMITS.maxExports} of this node; try again later`;
        throw new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      }
      all++;
      ofAccounts.set(accountId, own + 1);
      let isOpen = true;
      return {
        close() {
          if (!isOpen) return;
          isOpen = false;
          all--;
          const left = (ofAccounts.get(accountId) ?? 1) - 1;
          if (left === 0) ofAccounts.delete(accountId);
          else ofAccounts.set(accountId, left);
        },
      };
    },
  };
}

/** Whether a client asks for NDJSON, by its header `accept`. */
export function wantsLines(accept: string | undefined): boolean {
  return accept?.split(',').some((type) => type.split(';')[0]?.trim().toLowerCase() === NDJSON_TYPE) ?? false;
}

export interface LineStreamOptions {
  list: ExportedList;
  /** Undefined: the first page. */
  readPage: (after: string | undefined) => Promise<Page<object>>;
  /** Whether the key still holds. */
  isAdmitted: () => Promise<boolean>;
  /** Told of the bytes of each piece. */
  onBytes: (bytes: number) => void;
  /** Ends the connection before its time, so that no client takes the export for complete. */
  cutOff: () => void;
  onError: (error: unknown) => void;
  onEnd: () => void;
}

/**
 * The body of an export. The next page is read when the client has taken the one before, so that
 * one page is in memory. Rejects where the first one cannot be read; where a later one cannot, the
 * connection is cut off. A client that takes nothing is cut off as well.
 */
export async function lineStream(options: LineStreamOptions): Promise<ReadableStream<Uint8Array>> {
  const { cutOff, onBytes, onEnd, onError } = options;
  const first = await options.readPage(undefined);
  let isOver = false;
  const pieces = piecesOf(options, first, () => isOver);
  const encoder = new TextEncoder();
  let stall: NodeJS.Timeout | undefined;
  const end = () => {
    isOver = true;
    clearTimeout(stall);
    onEnd();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stall);
        try {
          const { done, value } = await pieces.next();
          if (isOver) return;
          if (done === true) {
            end();
            return controller.close();
          }
          const bytes = encoder.encode(value);
          onBytes(bytes.length);
          controller.enqueue(bytes);
          stall = setTimeout(cutOff, LIMITS.clientStallMs).unref();
        } catch (error) {
          if (isOver) return;
          onError(error);
          end();
          cutOff();
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

const PIECE_CHARS = 64 * 1024;

async function* piecesOf(
  { list, readPage, isAdmitted }: LineStreamOptions,
  first: Page<object>,
  isOver: () => boolean,
): AsyncGenerator<string, undefined> {
  const giveWay = createGiveWay();
  let checkedAtMs = Date.now();
  for (let page: Page<object> | undefined = first; page !== undefined; ) {
    const { records, after } = wholeOf(list, page);
    let piece = '';
    for (const record of records) {
      // Line breaks in JSON text are space between values.
      for (const part of recordParts(record)) piece += part.replaceAll(/[\r\n]+/g, ' ');
      piece += '\n';
      if (piece.length < PIECE_CHARS) continue;
      yield piece;
      piece = '';
      await giveWay();
    }
    if (piece !== '') yield piece;
    if (after === undefined) return undefined;
    if (Date.now() - checkedAtMs >= LIMITS.streamKeyCheckMs) {
      if (!(await isAdmitted())) throw new HeadwaterError('UNAUTHORIZED', 'The key of the export was revoked');
      checkedAtMs = Date.now();
    }
    // A client that left must not leave a search through all of the history behind.
    if (isOver()) return undefined;
    page = await readPage(after);
  }
  return undefined;
}

/** The records of a page that have all of their data, the first at least, and where to go on. */
function wholeOf(list: ExportedList, { items, endCursor }: Page<object>) {
  const cutAt = items.findIndex((item, at) => at > 0 && list.isCut?.(item) === true);
  if (cutAt < 0) return { records: items, after: endCursor };
  const records = items.slice(0, cutAt);
  return { records, after: list.cursorOf(records.at(-1) as object) };
}
