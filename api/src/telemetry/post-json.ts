import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { SignalConfig } from './telemetry-config.ts';

const zip = promisify(gzip);

/**
 * `again`: the collector asks for another try, or was not reached. `refused`: another try would end
 * in the same way.
 */
export type PostOutcome = { kind: 'sent' } | { kind: 'again' | 'refused'; why: string };

/** The statuses that the protocol gives to what may be sent again. */
const AGAIN = new Set([429, 502, 503, 504]);
/** No redirect leads the headers, which may hold a key, to another server. */
const REDIRECT = 'manual';

/** One request to the collector of the operator. Never rejects; ends within `timeoutMs`. */
export async function postJson(
  { url, headers, timeoutMs }: SignalConfig,
  body: object,
  stop: AbortSignal,
): Promise<PostOutcome> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: await zip(JSON.stringify(body)),
      redirect: REDIRECT,
      signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    if (response.ok) return { kind: 'sent' };
    const why = `it answered with status ${response.status}`;
    return { kind: AGAIN.has(response.status) ? 'again' : 'refused', why };
  } catch (error) {
    const { message, cause } = error as Error;
    return { kind: 'again', why: cause instanceof Error ? `${message}: ${cause.message}` : message };
  }
}
