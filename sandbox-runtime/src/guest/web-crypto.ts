import { theBridge } from './bridge-slot.ts';
import { GuestCryptoKey } from './crypto-key.ts';
import { GuestSubtleCrypto, type SubtleCall } from './subtle-crypto.ts';
import { asInterface } from './web-idl.ts';

const MAX_RANDOM_BYTES = 65_536;
const MAKE = Symbol('make');

/** The process answers with text if it refuses; the text is the reason. */
function askRandom(bytes: number): Uint8Array<ArrayBuffer> {
  const answer = theBridge().ask({ kind: 'random', bytes });
  if (typeof answer === 'string') throw new Error(answer);
  return answer as Uint8Array<ArrayBuffer>;
}

export class GuestCrypto {
  readonly #subtle: GuestSubtleCrypto;

  constructor(token?: unknown, subtle?: GuestSubtleCrypto) {
    if (token !== MAKE || subtle === undefined) throw new TypeError('Illegal constructor');
    this.#subtle = subtle;
  }

  get subtle(): GuestSubtleCrypto {
    return this.#subtle;
  }

  // Neither uses `this`: packages take them off the object.
  getRandomValues<T extends ArrayBufferView>(target: T): T {
    if (!isIntegerArray(target))
      throw new DOMException('The data argument must be an integer-type TypedArray', 'TypeMismatchError');
    if (target.byteLength > MAX_RANDOM_BYTES)
      throw new DOMException('The requested length exceeds 65,536 bytes', 'QuotaExceededError');
    const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
    bytes.set(askRandom(target.byteLength));
    return target;
  }

  randomUUID(): string {
    return formatUuid(askRandom(16));
  }
}
asInterface(GuestCrypto, 'Crypto');

export const CRYPTO_CLASSES = {
  Crypto: GuestCrypto,
  CryptoKey: GuestCryptoKey,
  SubtleCrypto: GuestSubtleCrypto,
};

/** `crypto`: random values, UUIDs, and `subtle`, which runs in the process around the isolate. */
export function makeWebCrypto(call: SubtleCall): GuestCrypto & Record<string, unknown> {
  return new GuestCrypto(MAKE, GuestSubtleCrypto.connect(call)) as GuestCrypto & Record<string, unknown>;
}

function isIntegerArray(target: unknown): target is ArrayBufferView<ArrayBuffer> {
  if (!ArrayBuffer.isView(target) || target instanceof DataView) return false;
  return !(target instanceof Float32Array || target instanceof Float64Array || tagOf(target) === 'Float16Array');
}

function tagOf(view: ArrayBufferView): unknown {
  return (view as unknown as Record<symbol, unknown>)[Symbol.toStringTag];
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
