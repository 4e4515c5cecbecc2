import type { Json } from './json.ts';

/** A message as an EventSource would hand it out. */
interface ReceivedMessage {
  id: string;
  event: string;
  data: Json;
}

export interface TestEventSource {
  status: number;
  headers: Headers;
  messages: ReceivedMessage[];
  comments: string[];
  /** The whole text of an answer that is no stream. */
  text: () => Promise<string>;
  /** Resolves when the server has ended the stream, or it was closed. */
  ended: Promise<void>;
  close(): void;
}

/**
 * Reads server-sent events as the standard says (html.spec.whatwg.org, 9.2.6), as far as this
 * server writes them.
 */
export async function openEventSource(url: string, apiKey: string, lastEventId?: string): Promise<TestEventSource> {
  const abort = new AbortController();
  const headers: Record<string, string> = { authorization: `Bearer ${apiKey}` };
  if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
  const response = await fetch(url, { headers, signal: abort.signal });
  const messages: ReceivedMessage[] = [];
  const comments: string[] = [];
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  const ended = isStream ? readAll(response, messages, comments).catch(() => undefined) : Promise.resolve();
  return {
    status: response.status,
    headers: response.headers,
    messages,
    comments,
    text: () => response.text(),
    ended,
    close: () => abort.abort(),
  };
}

async function readAll(response: Response, messages: ReceivedMessage[], comments: string[]): Promise<void> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) readBlock(block, messages, comments);
  }
}

function readBlock(block: string, messages: ReceivedMessage[], comments: string[]): void {
  const message = { id: '', event: 'message' };
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === '') comments.push(value);
    if (field === 'id') message.id = value;
    if (field === 'event') message.event = value;
    if (field === 'data') data.push(value);
  }
  if (data.length > 0) messages.push({ ...message, data: JSON.parse(data.join('\n')) });
}
