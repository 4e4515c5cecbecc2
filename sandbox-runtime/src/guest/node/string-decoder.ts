import { StringDecoder } from 'string_decoder/';
import { invalidArgument } from './errors.ts';
import { unknownEncoding } from './buffer-checks.ts';

type Decoder = typeof StringDecoder;

/** The package's decoder, with the errors of current Node: its own are those of an old version. */
export function makeStringDecoder(): Decoder {
  function CheckedDecoder(this: StringDecoder, encoding?: BufferEncoding): void {
    if (typeof encoding === 'string' && !Buffer.isEncoding(encoding)) throw unknownEncoding(encoding);
    (StringDecoder as unknown as (this: StringDecoder, encoding?: string) => void).call(this, encoding);
    const { write } = this;
    this.write = (bytes) => {
      if (typeof bytes !== 'string' && !ArrayBuffer.isView(bytes))
        throw invalidArgument('buf', 'an instance of Buffer, TypedArray, or DataView', bytes);
      return write.call(this, bytes);
    };
  }
  CheckedDecoder.prototype = StringDecoder.prototype;
  Object.defineProperty(CheckedDecoder.prototype, 'constructor', { value: CheckedDecoder });
  Object.defineProperty(CheckedDecoder, 'name', { value: 'StringDecoder' });
  return CheckedDecoder as unknown as Decoder;
}
