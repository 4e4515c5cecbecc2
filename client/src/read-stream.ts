/** A message of a stream of server-sent events. */
export interface StreamMessage {
  id: string;
  /** The channel; '' for the default one. */
  event: string;
  data: string;
}

/** Longer than three heartbeats of the server: the connection has died without a word. */
const MAX_SILENCE_MS = 50_000;
/** One record has at most 12 MB. */
const MAX_MESSAGE_CHARS = 16 * 1024 * 1024;

/**
 * The messages of one answer, until it ends. Throws where it breaks or goes silent, and where a
 * message is without end.
 */
export async function* readStream(
  body: ReadableStream<Uint8Array>,
  maxSilenceMs = MAX_SILENCE_MS,
): AsyncGenerator<StreamMessage> {
  let message = { id: '', event: '', data: [] as string[] };
  let chars = 0;
  for await (const line of readLines(body, maxSilenceMs)) {
    chars += line.length;
    if (chars > MAX_MESSAGE_CHARS) throw tooLong();
    if (line === '') {
      if (message.data.length > 0) yield { ...message, data: message.data.join('\n') };
      message = { id: message.id, event: '', data: [] };
      chars = 0;
      continue;
    }
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === 'data') message.data.push(value);
    else if (field === 'id') message.id = value;
    else if (field === 'event') message.event = value;
  }
}

async function* readLines(body: ReadableStream<Uint8Array>, maxSilenceMs: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await withinTime(reader.read(), maxSilenceMs);
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      rest += text;
      if (rest.length > MAX_MESSAGE_CHARS) throw tooLong();
      // A long line is searched once, not again with each piece.
      if (!/[\r\n]/.test(text)) continue;
      // A line may end with both of \r\n, of which the second is still to come.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    // The connection may be broken already.
    await reader.cancel().catch(() => undefined);
  }
}

function tooLong(): Error {
  return new Error(`A message has more than ${MAX_MESSAGE_CHARS} characters`);
}

async function withinTime<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing came for ${ms / 1_000} s`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
