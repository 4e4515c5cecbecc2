import { asInterface } from './web-idl.ts';

/**
 * A key as it crosses the bridge: the material is raw bytes, SPKI or PKCS #8, by the key's type.
 */
export interface KeyParts {
  type: 'secret' | 'public' | 'private';
  extractable: boolean;
  algorithm: Record<string, unknown>;
  usages: string[];
  material: Uint8Array<ArrayBuffer>;
}

const MAKE = Symbol('make');

let partsOf: (key: GuestCryptoKey) => KeyParts;

/**
 * `CryptoKey`. It holds its material in a private field, so that the process keeps nothing for an
 * isolate. That an unextractable key cannot be exported binds the component's own code, which is
 * what the standard asks for.
 */
export class GuestCryptoKey {
  readonly #parts: KeyParts;

  constructor(token?: unknown, parts?: KeyParts) {
    if (token !== MAKE || parts === undefined) throw new TypeError('Illegal constructor');
    this.#parts = parts;
  }

  static {
    partsOf = (key) => key.#parts;
  }

  get type(): string {
    return this.#parts.type;
  }

  get extractable(): boolean {
    return this.#parts.extractable;
  }

  get algorithm(): Record<string, unknown> {
    return this.#parts.algorithm;
  }

  get usages(): string[] {
    return this.#parts.usages;
  }
}
asInterface(GuestCryptoKey, 'CryptoKey');

export function makeKey(parts: KeyParts): GuestCryptoKey {
  return new GuestCryptoKey(MAKE, parts);
}

export function keyParts(key: GuestCryptoKey): KeyParts {
  return partsOf(key);
}
