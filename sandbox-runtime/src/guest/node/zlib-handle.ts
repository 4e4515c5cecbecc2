import { NODE_FACTS } from './node-facts.ts';

const { zlibConstants: ZLIB_CONSTANTS } = NODE_FACTS;

/** Node's default chunk size. */
const CHUNK_BYTES = 16 * 1024;

/**
 * Gives an object what pngjs, and with it Jimp, uses of a stream of Node's zlib: it makes one by
 * `zlib.Inflate.call(this)`, and then has `_handle.writeSync` fill `_outBuffer` until nothing is
 * left. All of the work is done at the first call.
 */
export function attachHandle(
  stream: object,
  work: (data: Uint8Array) => Buffer,
  options: Record<string, unknown>,
): void {
  const chunkBytes = Number(options['chunkSize'] ?? CHUNK_BYTES);
  let output: Buffer | undefined;
  let given = 0;
  const writeSync = (
    _flush: number,
    input: Uint8Array,
    inputAt: number,
    inputBytes: number,
    target: Uint8Array,
    targetAt: number,
    room: number,
  ): [inputLeft: number, roomLeft: number] => {
    output ??= work(input.subarray(inputAt, inputAt + inputBytes));
    const part = output.subarray(given, given + room);
    target.set(part, targetAt);
    given += part.length;
    return [0, room - part.length];
  };
  Object.assign(stream, {
    _handle: { writeSync, close: () => undefined },
    _chunkSize: chunkBytes,
    _outBuffer: Buffer.alloc(chunkBytes),
    _outOffset: 0,
    _finishFlushFlag: ZLIB_CONSTANTS['Z_FINISH'],
    _hadError: false,
  });
}
