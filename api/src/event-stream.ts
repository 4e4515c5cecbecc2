import { createGiveWay, LIMITS } from '@headwater/shared';

/** One message of a stream of server-sent events. */
export interface Message {
  id: string;
  /** Event type for `addEventListener` of an EventSource. Default: `message`. */
  event?: string;
  /** JSON text. */
  data: string;
}

export interface MessageSource {
  /** Next messages, or an empty list after `waitMs`; undefined at the end of the stream. */
  next(waitMs: number): Promise<Message[] | undefined>;
  close(): void;
}

export interface EventStreamOptions {
  /** Whether the key still holds. */
  isAdmitted: () => Promise<boolean>;
  /** Ends a connection whose client does not read. */
  cutOff: () => void;
  onError: (error: unknown) => void;
}

/**
 * The body of an answer with the content type `text/event-stream`. The next messages are asked for
 * when the client has taken those before, so a slow one costs what one turn brings; one that takes
 * nothing is cut off.
 */
export function eventStream(messages: MessageSource, options: EventStreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let stall: NodeJS.Timeout | undefined;
  const texts = textsOf(messages, options.isAdmitted);

  function end(): void {
    clearTimeout(stall);
    messages.close();
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stall);
        // The client reconnects and resumes; `onError` tells the operator.
        const next = await texts.next().catch((error: unknown) => {
          options.onError(error);
          return undefined;
        });
        const text = next?.value;
        if (text === undefined) {
          end();
          // It may have been cancelled meanwhile.
          if (controller.desiredSize !== null) closeQuietly(controller);
          return;
        }
        controller.enqueue(encoder.encode(text));
        stall = setTimeout(options.cutOff, LIMITS.clientStallMs);
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

function closeQuietly(controller: ReadableStreamDefaultController): void {
  try {
    controller.close();
  } catch {
    // Closed already: the client went away while the end was found out.
  }
}

/** An event may have megabytes; a piece of this size is written in a millisecond. */
const PIECE_CHARS = 64 * 1024;

/** Text of the stream. Ends with the messages, or when the key is no longer valid. */
async function* textsOf(
  messages: MessageSource,
  isAdmitted: EventStreamOptions['isAdmitted'],
): AsyncGenerator<string, undefined> {
  yield `retry: ${LIMITS.streamRetryMs}\n\n`;
  let checkedAtMs = Date.now();
  for (;;) {
    if (Date.now() - checkedAtMs >= LIMITS.streamKeyCheckMs) {
      if (!(await isAdmitted())) return undefined;
      checkedAtMs = Date.now();
    }
    const next = await messages.next(LIMITS.streamHeartbeatMs);
    if (next === undefined) return undefined;
    if (next.length === 0) yield ': still here\n\n';
    else yield* piecesOf(next);
  }
}

/**
 * Messages in pieces, the next when the client has taken the one before, and others have the thread
 * in between.
 */
async function* piecesOf(messages: readonly Message[]): AsyncGenerator<string> {
  const giveWay = createGiveWay();
  let piece = '';
  for (const { id, event, data } of messages) {
    piece += `id: ${id}\n${event === undefined ? '' : `event: ${onOneLine(event)}\n`}data: `;
    for (const part of partsOf(data)) {
      piece += onOneLine(part);
      if (piece.length < PIECE_CHARS) continue;
      yield piece;
      piece = '';
      await giveWay();
    }
    piece += '\n\n';
  }
  if (piece !== '') yield piece;
}

/**
 * A line break would end a field. In JSON text it is space between values, and a line of data for
 * each could be a million lines.
 */
function onOneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}

function* partsOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = from + PIECE_CHARS;
    // Not between the halves of a character.
    if ((text.codePointAt(to - 1) ?? 0) > 0xffff) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}
