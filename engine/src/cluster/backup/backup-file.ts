import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { HeadwaterError } from '@headwater/shared';

/*
 * The file of a backup: a line with the version of the form, frames compressed with zstd, and the
 * SHA-256 of all before it. A frame is a byte for its kind, the length of its content, and that.
 */

/** `rows`: text of COPY. `part`: JSON, which says what the rows after it are. */
export interface Frame {
  kind: 'part' | 'rows';
  content: Buffer;
}

const FORM = 1;
const MAGIC = Buffer.from(`headwater backup ${FORM}\n`);
const ANY_MAGIC = /^headwater backup (\d+)\n/;
const HASH_BYTES = 32;
const HEAD_BYTES = 5;
const KINDS = { part: 1, rows: 2 } as const;
const LEVEL = 3;

export function partFrame(value: unknown): Frame {
  return { kind: 'part', content: Buffer.from(JSON.stringify(value)) };
}

/** Writes the file to `output`, and leaves that open where `end` is false. */
export async function writeFrames(frames: AsyncIterable<Frame>, output: Writable, end: boolean): Promise<void> {
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  await pipeline(Readable.from(encode(frames), { objectMode: false }), compress, addHash(), output, { end });
}

async function* encode(frames: AsyncIterable<Frame>): AsyncGenerator<Buffer> {
  for await (const { kind, content } of frames) {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt8(KINDS[kind], 0);
    head.writeUInt32BE(content.length, 1);
    yield head;
    yield content;
  }
}

function addHash(): Transform {
  const hash = createHash('sha256').update(MAGIC);
  let isBegun = false;
  const begin = (stream: Transform) => {
    if (!isBegun) stream.push(MAGIC);
    isBegun = true;
  };
  return new Transform({
    transform(chunk: Buffer, _, done) {
      begin(this);
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      begin(this);
      done(null, hash.digest());
    },
  });
}

/** Reads the whole file once. Throws INVALID_REQUEST where it is not a backup as it was written. */
export async function checkBackupFile(file: string): Promise<{ bytes: number }> {
  const handle = await open(file, 'r').catch((cause: Error) => {
    throw new HeadwaterError('INVALID_REQUEST', `The backup ${file} cannot be read: ${cause.message}`, { cause });
  });
  try {
    const { size } = await handle.stat();
    const first = Buffer.alloc(MAGIC.length);
    await handle.read(first, 0, first.length, 0);
    const [, form] = ANY_MAGIC.exec(first.toString('latin1')) ?? [];
    if (form === undefined) throw refuse(file, 'is not a backup of Headwater');
    if (Number(form) !== FORM) throw refuse(file, `has the form ${form}, which this version does not know`);
    const hashed = size - HASH_BYTES;
    if (hashed <= MAGIC.length) throw refuse(file, 'is truncated');
    const hash = createHash('sha256');
    const hashedPart: AsyncIterable<Buffer> = handle.createReadStream({ end: hashed - 1, autoClose: false });
    for await (const chunk of hashedPart) hash.update(chunk);
    const wanted = Buffer.alloc(HASH_BYTES);
    await handle.read(wanted, 0, HASH_BYTES, hashed);
    if (!hash.digest().equals(wanted)) throw refuse(file, 'is truncated, or was changed after it was written');
    return { bytes: size };
  } finally {
    await handle.close();
  }
}

function refuse(file: string, why: string): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', `${file} ${why}. Nothing was changed.`);
}

/** The frames of a file that `checkBackupFile` takes. Holds one of them in memory. */
export async function* readFrames(file: string, bytes: number): AsyncGenerator<Frame, undefined> {
  const source = createReadStream(file, { start: MAGIC.length, end: bytes - HASH_BYTES - 1 });
  const plain = createZstdDecompress();
  const feeding = pipeline(source, plain);
  // The reader of `plain` has the same error.
  feeding.catch(() => undefined);
  const take = createTaker(plain);
  try {
    for (;;) {
      const head = await take(HEAD_BYTES);
      if (head === undefined) return undefined;
      const kind = head.readUInt8(0) === KINDS.part ? 'part' : 'rows';
      const content = await take(head.readUInt32BE(1));
      if (content === undefined) throw new Error(`${file} ends within a frame`);
      yield { kind, content };
    }
  } finally {
    source.destroy();
    plain.destroy();
  }
}

/** Answers the next so many bytes; undefined where there are fewer. */
function createTaker(from: AsyncIterable<Buffer>): (bytes: number) => Promise<Buffer | undefined> {
  const chunks = from[Symbol.asyncIterator]();
  let held: Buffer[] = [];
  let heldBytes = 0;
  return async (bytes) => {
    while (heldBytes < bytes) {
      const next = await chunks.next();
      if (next.done === true) return undefined;
      held.push(next.value);
      heldBytes += next.value.length;
    }
    const all = held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held);
    held = all.length === bytes ? [] : [all.subarray(bytes)];
    heldBytes = all.length - bytes;
    return all.subarray(0, bytes);
  };
}
