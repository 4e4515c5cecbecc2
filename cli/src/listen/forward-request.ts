import { MAX_ANSWER_BYTES, readText } from '../api/read-text.ts';

export interface TunnelRequest {
  id: string;
  delivery_id: string;
  headers: Record<string, string>;
  body: string;
}

/** As `POST /v1/webhooks/{id}/answer` takes it. */
export interface LocalAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  error?: string;
}

/** Its attempt is over then. */
const TIMEOUT_MS = 30_000;
const MAX_BODY_CHARS = 16_384;
const MAX_HEADERS_CHARS = 8_192;
/** Headers of one connection; the next one has its own. */
const OF_CONNECTION = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding']);

/** Undefined for data that is not a request. */
export function readTunnelRequest(data: string): TunnelRequest | undefined {
  try {
    const { id, headers, body } = JSON.parse(data) as Partial<TunnelRequest>;
    const isOne = typeof id === 'string' && typeof body === 'string' && typeof headers === 'object';
    return isOne ? (JSON.parse(data) as TunnelRequest) : undefined;
  } catch {
    // The caller says so.
    return undefined;
  }
}

/** Sends it to the server on this machine; answers what that answered, or why it did not. */
export async function forwardRequest(request: TunnelRequest, to: URL, signal: AbortSignal): Promise<LocalAnswer> {
  const headers = Object.entries(request.headers).filter(([name]) => !OF_CONNECTION.has(name));
  try {
    const response = await fetch(to, {
      method: 'POST',
      headers: Object.fromEntries(headers),
      body: request.body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const { text } = await readText(response, MAX_ANSWER_BYTES);
    const body = text.slice(0, MAX_BODY_CHARS).replaceAll('\0', '').toWellFormed();
    return { status: response.status, headers: shownHeaders(response), body };
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
    return { error: `${to.host}: ${reason}`.slice(0, 1_000) };
  }
}

function shownHeaders(response: Response): Record<string, string> {
  const shown: Record<string, string> = {};
  let chars = 0;
  for (const [name, value] of response.headers) {
    chars += name.length + value.length + 8;
    if (chars > MAX_HEADERS_CHARS) break;
    shown[name] = value;
  }
  return shown;
}
