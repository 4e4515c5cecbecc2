import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { type Dispatcher, Pool } from 'undici';
import type { BenchArguments } from '../arguments.ts';
import { createRequestTemplate } from '../load/request-bytes.ts';
import { eventId, ID_CHARS } from '../receiver/messages.ts';

/**
 * Baseline of deliveries, in requests per second. Each is an HMAC over the body and a POST through
 * an undici pool to the same receiver, `connections` at a time. The driver sends them, like the
 * server in the whole path.
 */
export async function measureSignedPosts(url: string, options: BenchArguments, durationMs: number): Promise<number> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: options.connections, pipelining: 1 });
  const { body: bodyOf } = createRequestTemplate(url, options.bodyBytes, ID_CHARS);
  const key = createSecretKey(randomBytes(32));
  let next = 0;

  async function post(): Promise<void> {
    const id = `msg_${next}`;
    const body = Buffer.from(bodyOf(eventId('s', next++)));
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
    const headers = ['content-type', 'application/json', 'webhook-id', id, 'webhook-timestamp', timestamp];
    headers.push('webhook-signature', `v1,${signature}`);
    const status = await dispatch(pool, { path: pathname, method: 'POST', headers, body });
    if (status !== 200) throw new Error(`The receiver answered ${status}`);
  }

  async function measure(ms: number): Promise<number> {
    const startMs = performance.now();
    const first = next;
    const keepPosting = async () => {
      while (performance.now() - startMs < ms) await post();
    };
    await Promise.all(Array.from({ length: options.connections }, keepPosting));
    return ((next - first) / (performance.now() - startMs)) * 1_000;
  }

  try {
    await measure(durationMs / 4);
    return await measure(durationMs);
  } finally {
    await pool.destroy();
  }
}

/**
 * undici's lowest interface, without the streams of `request`: the floor, not the comfortable way.
 */
function dispatch(pool: Pool, request: Dispatcher.DispatchOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0;
    pool.dispatch(request, {
      onRequestStart: () => undefined,
      onResponseStart(_, statusCode) {
        status = statusCode;
      },
      onResponseData: () => undefined,
      onResponseEnd: () => resolve(status),
      onResponseError: (_, error) => reject(error),
    });
  });
}
