import { LIMITS } from '@headwater/shared';

/** One message of a stream of server-sent events. */
export interface Message {
  id: string;
  /** What `addEventListener` of an EventSource is given. Default: `message`. */
  event?: string;
  /** JSON text. */
  data: string;
}

export interface MessageSource {
  /** What comes next, after `waitMs` nothing; undefined: there is no more. */
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
 * The body of an answer with the content type `text/event-stream`. The next messages are asked for when the client has taken
 * those before, so a slow one costs what one turn brings; one that takes nothing is cut off.
 */
export function eventStream(messages: MessageSource, options: EventStreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let stall: NodeJS.Timeout | undefined;
  let checkedAtMs = Date.now();
  let hasBegun = false;

  async function nextText(): Promise<string | undefined> {
    if (!hasBegun) {
      hasBegun = true;
      return `retry: ${LIMITS.streamRetryMs}\n\n`;
    }
    if (Date.now() - checkedAtMs >= LIMITS.streamKeyCheckMs) {
      if (!(await options.isAdmitted())) return undefined;
      checkedAtMs = Date.now();
    }
    const next = await messages.next(LIMITS.streamHeartbeatMs);
    return next?.length === 0 ? ': still here\n\n' : next?.map(messageText).join('');
  }

  function end(): void {
    clearTimeout(stall);
    messages.close();
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stall);
        // The client connects again and goes on where it was; whoever runs the node is told.
        const text = await nextText().catch((error: unknown) => {
          options.onError(error);
          return undefined;
        });
        if (text === undefined) {
          end();
          // It may have been cancelled meanwhile.
          if (controller.desiredSize !== null) closeQuietly(controller);
          return;
        }
        controller.enqueue(encoder.encode(text));
        stall = setTimeout(options.cutOff, LIMITS.streamStallMs);
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

/** A line break would end a field: data goes on in the next line, a name has none. */
function messageText({ id, event, data }: Message): string {
  const name = event === undefined ? '' : `event: ${event.replaceAll(/[\r\n]+/g, ' ')}\n`;
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `id: ${id}\n${name}${lines.join('')}\n`;
}
