import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** A message of a stream of server-sent events, or a sign of life. */
export type StreamItem = { kind: 'message'; message: EventSourceMessage } | { kind: 'retry'; ms: number };

/**
 * Silence that is longer than three heartbeats of the server is a connection that has died without
 * a word.
 */
const MAX_SILENCE_MS = 50_000;
/** One record has at most 6 MB. */
const MAX_BUFFER_BYTES = 16 * 1024 * 1024;

/**
 * Messages as they come. Ends where the server ends; throws where the connection breaks or goes
 * silent, or the server sends something that is no stream of events.
 */
export async function* readStreamItems(response: Response, maxSilenceMs = MAX_SILENCE_MS): AsyncGenerator<StreamItem> {
  const waiting: StreamItem[] = [];
  const parser = createParser({
    maxBufferSize: MAX_BUFFER_BYTES,
    onEvent: (message) => void waiting.push({ kind: 'message', message }),
    onRetry: (ms) => void waiting.push({ kind: 'retry', ms }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await withinTime(reader.read(), maxSilenceMs);
      if (done) return;
      parser.feed(value);
      while (waiting.length > 0) yield waiting.shift() as StreamItem;
    }
  } finally {
    // The connection may be broken already, and the consumer has left in any case.
    await reader.cancel().catch(() => undefined);
  }
}

async function withinTime<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing came for ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
