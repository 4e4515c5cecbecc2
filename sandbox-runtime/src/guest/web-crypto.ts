import { ASK } from '../protocol/isolate-calls.ts';
import { toBytes } from './blob.ts';
import type { Bridge } from './bridge.ts';

const MAX_RANDOM_BYTES = 65_536;
const HASHES: Record<string, string> = {
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};

interface HmacKey {
  type: 'secret';
  extractable: boolean;
  algorithm: { name: 'HMAC'; hash: { name: string } };
  usages: string[];
}

/** Asks the process; what comes back as text is the reason why it could not. */
export function askBytes(
  bridge: Bridge,
  kind: number,
  a: string | number,
  b?: Uint8Array,
  c?: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const answer = bridge.ask(kind, a, b, c);
  if (typeof answer === 'string') throw new Error(answer);
  return answer as Uint8Array<ArrayBuffer>;
}

/** `crypto`: random values, UUIDs, and of `subtle` digest and HMAC. */
export function makeWebCrypto(bridge: Bridge): Record<string, unknown> {
  const random = (bytes: number): Uint8Array => askBytes(bridge, ASK.random, bytes);
  return {
    getRandomValues<T extends ArrayBufferView>(target: T): T {
      if (!ArrayBuffer.isView(target)) throw new TypeError('getRandomValues takes a typed array');
      if (target.byteLength > MAX_RANDOM_BYTES)
        throw new RangeError(`getRandomValues fills at most ${MAX_RANDOM_BYTES} bytes`);
      new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(random(target.byteLength));
      return target;
    },
    randomUUID: () => formatUuid(random(16)),
    subtle: makeSubtle(bridge),
  };
}

function makeSubtle(bridge: Bridge): Record<string, unknown> {
  const secrets = new WeakMap<object, Uint8Array>();
  const hmac = (key: HmacKey, data: unknown): Uint8Array<ArrayBuffer> => {
    const secret = secrets.get(key);
    if (secret === undefined) throw new TypeError('The key was not made by importKey');
    return askBytes(bridge, ASK.hmac, hashName(key.algorithm.hash), secret, toBytes(bridge, data));
  };
  return {
    digest: async (algorithm: unknown, data: unknown) =>
      askBytes(bridge, ASK.hash, hashName(algorithm), toBytes(bridge, data)).buffer,
    importKey: async (
      format: string,
      data: unknown,
      algorithm: { name?: string; hash?: unknown },
      extractable: boolean,
      usages: string[],
    ) => {
      if (format !== 'raw' || algorithm?.name?.toUpperCase() !== 'HMAC')
        throw new TypeError('importKey takes raw HMAC keys only');
      const hash = typeof algorithm.hash === 'string' ? { name: algorithm.hash } : (algorithm.hash as { name: string });
      hashName(hash);
      const key: HmacKey = { type: 'secret', extractable, algorithm: { name: 'HMAC', hash }, usages };
      secrets.set(key, toBytes(bridge, data));
      return key;
    },
    sign: async (_algorithm: unknown, key: HmacKey, data: unknown) => hmac(key, data).buffer,
    verify: async (_algorithm: unknown, key: HmacKey, signature: unknown, data: unknown) =>
      equalBytes(hmac(key, data), toBytes(bridge, signature)),
  };
}

function hashName(algorithm: unknown): string {
  const name = typeof algorithm === 'string' ? algorithm : (algorithm as { name?: unknown } | null)?.name;
  const hash = HASHES[String(name).toUpperCase()];
  if (hash === undefined) throw new TypeError(`The algorithm '${String(name)}' is not supported`);
  return hash;
}

/** Looks at every byte whatever it finds: the time taken says nothing about the content. */
export function equalBytes(first: Uint8Array, second: Uint8Array): boolean {
  if (first.length !== second.length) return false;
  let difference = 0;
  for (let i = 0; i < first.length; i++) difference |= (first[i] as number) ^ (second[i] as number);
  return difference === 0;
}

function formatUuid(bytes: Uint8Array): string {
  const hex = [...bytes].map((byte, index) => {
    const marked = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  });
  return [hex.slice(0, 4), hex.slice(4, 6), hex.slice(6, 8), hex.slice(8, 10), hex.slice(10)]
    .map((part) => part.join(''))
    .join('-');
}
