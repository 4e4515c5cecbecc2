// oxlint-disable import/no-unassigned-import -- core-js installs what its modules are named after
import 'core-js/actual/atob';
import 'core-js/actual/btoa';
import { toText } from './intrinsics.ts';
import { requireNamed } from './web-idl.ts';

const { atob: decode, btoa: encode } = globalThis;
const NOT_BASE64 = /[^A-Za-z0-9+/\t\n\f\r ]/;
const LATIN1 = /^[\0-\xff]*$/;

/** `atob` and `btoa`, with Node's errors: packages and people branch on their messages. */
export const BASE64_GLOBALS = {
  atob(input: unknown): string {
    requireNamed(arguments.length, 'input');
    const text = toConverted(input);
    try {
      return decode(text);
    } catch {
      // The package says the same of every text that is no base64.
      throw invalidCharacter(
        NOT_BASE64.test(text.replace(/={1,2}[\t\n\f\r ]*$/, '')) || /^[\t\n\f\r ]*=/.test(text)
          ? 'Invalid character'
          : 'The string to be decoded is not correctly encoded.',
      );
    }
  },
  btoa(input: unknown): string {
    requireNamed(arguments.length, 'input');
    const text = toConverted(input);
    if (!LATIN1.test(text)) throw invalidCharacter('Invalid character');
    return encode(text);
  },
};

function toConverted(input: unknown): string {
  if (typeof input === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
  return toText(input);
}

function invalidCharacter(message: string): DOMException {
  return new DOMException(message, 'InvalidCharacterError');
}
