// Appended to each client's code: runs its checks against the server named in the event, one after
// the other, and answers with what became of each: 'ok', or what went wrong.
export function equal(actual, expected) {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${a} instead of ${b}`);
}

export async function failureOf(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

/** Bytes 0, 1, 2 … 250, 0, 1 …: a chunk that is lost, doubled or moved shows. */
export function pattern(length, from = 0) {
  return Uint8Array.from({ length }, (_, i) => (from + i) % 251);
}

/**
 * Reads any async iterable of chunks; answers how many bytes there were, in how many chunks, and
 * whether they are the pattern.
 */
export async function readPattern(chunks) {
  let bytes = 0;
  let isPattern = true;
  let count = 0;
  for await (const chunk of chunks) {
    const expected = pattern(chunk.length, bytes);
    isPattern &&= chunk.every((byte, i) => byte === expected[i]);
    bytes += chunk.length;
    count += 1;
  }
  return { bytes, isPattern, isStreamed: count > 1 };
}

export const STREAM_BYTES = 300_000;
export const STREAMED = { bytes: STREAM_BYTES, isPattern: true, isStreamed: true };
export const TIMEOUT_MS = 150;
export const ABORT_MS = 50;
export const CHECK_MS = 8_000;

export default {
  name: 'HTTP client',
  version: '1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  async run(event) {
    const results = {};
    for (const [name, check] of Object.entries(checks)) {
      let timer;
      const tooLong = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`not settled after ${CHECK_MS} ms`)), CHECK_MS);
      });
      try {
        await Promise.race([check(event.body.base), tooLong]);
        results[name] = 'ok';
      } catch (error) {
        results[name] = `${error?.stack ?? error}`;
      }
      clearTimeout(timer);
    }
    await this.http.respond({ status: 200, body: results });
  },
};
