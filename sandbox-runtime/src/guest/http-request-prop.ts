import type { GuestFetch } from './fetch.ts';
import { readRequestConfig } from './http-request-config.ts';
import { isObjectValue } from './resolve-prop.ts';
import type { GuestResponse } from './response.ts';

/** Result of `execute`. It has the shape of axios responses, because components read that. */
interface ExecutedRequest {
  data: unknown;
  status: number;
  statusText: string;
  headers: Record<string, string>;
  config: { method: string; url: string };
}

/** An http_request prop: its configuration, and `execute`. */
export function makeHttpRequestProp(fetches: GuestFetch, configured: unknown): Record<string, unknown> {
  return { ...(isObjectValue(configured) ? configured : {}), execute: () => execute(fetches, configured) };
}

async function execute(fetches: GuestFetch, configured: unknown): Promise<ExecutedRequest> {
  const { url, init } = readRequestConfig(configured);
  const response = await fetches.fetch(url, init);
  const executed: ExecutedRequest = {
    data: await readData(response),
    status: response.status,
    statusText: response.statusText,
    headers: Object.fromEntries(response.headers),
    config: { method: init.method, url },
  };
  if (!response.ok) throw new RequestFailedError(executed);
  return executed;
}

/** JSON if it parses, with any content type, as in axios; else text. */
async function readData(response: GuestResponse): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    // It is no JSON.
    return text;
  }
}

/** An answer other than 2xx, with the fields of axios's error. */
class RequestFailedError extends Error {
  readonly code: 'ERR_BAD_REQUEST' | 'ERR_BAD_RESPONSE';
  readonly status: number;
  readonly response: ExecutedRequest;

  constructor(response: ExecutedRequest) {
    super(`Request failed with status code ${response.status}`);
    this.code = response.status < 500 ? 'ERR_BAD_REQUEST' : 'ERR_BAD_RESPONSE';
    this.status = response.status;
    this.response = response;
  }
}
