import { NDJSON_TYPE } from '@headwater/shared';
import { CliError } from '../cli-error.ts';
import { parseExactJson } from '../exact-json.ts';

/** One record has at most 12 MB. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;
/** Connections in a row that brought no line. */
const MAX_EMPTY_TRIES = 3;

interface LineOptions<T> {
  /** Cursor behind a record, where the list goes on. */
  cursorOf: (record: T) => string;
  /** The error of a connection that was lost for good. */
  lost: (cause: unknown) => Error;
}

/**
 * The records of a list, as they come. `open` asks for those behind a cursor; where a connection
 * breaks, for those behind the last record that was read.
 */
export async function* readRecords<T>(
  open: (after: string | undefined) => Promise<Response>,
  { cursorOf, lost }: LineOptions<T>,
): AsyncGenerator<T> {
  let after: string | undefined;
  for (let tries = 0; ; tries++) {
    const response = await open(after);
    if (response.headers.get('content-type')?.startsWith(NDJSON_TYPE) !== true)
      throw new CliError('failure', 'The server does not export this list', { hint: 'It is older than this hw' });
    try {
      for await (const line of linesOf(response)) {
        const record = parseExactJson(line) as T;
        after = cursorOf(record);
        tries = 0;
        yield record;
      }
      return;
    } catch (cause) {
      if (tries >= MAX_EMPTY_TRIES) throw lost(cause);
    }
  }
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let chars = 0;
  for await (const chunk of response.body ?? []) {
    const [first = '', ...more] = decoder.decode(chunk as Uint8Array, { stream: true }).split('\n');
    parts.push(first);
    chars += first.length;
    if (chars > MAX_LINE_CHARS) throw new Error('A line is too long');
    for (const text of more) {
      yield parts.splice(0).join('');
      parts.push(text);
      chars = text.length;
    }
  }
  if (parts.join('').trim() !== '') throw new Error('The last line is not complete');
}
