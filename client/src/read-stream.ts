/** A message of a stream of server-sent events. */
export interface StreamMessage {
  id: string;
  /** The channel; '' for the default one. */
  event: string;
  data: string;
}

/** The messages of one answer, until it ends. */
export async function* readStream(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamMessage> {
  let message = { id: '', event: '', data: [] as string[] };
  for await (const line of readLines(body)) {
    if (line === '') {
      if (message.data.length > 0) yield { ...message, data: message.data.join('\n') };
      message = { id: message.id, event: '', data: [] };
      continue;
    }
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === 'data') message.data.push(value);
    else if (field === 'id') message.id = value;
    else if (field === 'event') message.event = value;
  }
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A line may end with both of \r\n, of which the second is still to come.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
