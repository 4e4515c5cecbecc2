import { timingSafeEqual } from 'node:crypto';
import { HeadwaterError } from '@headwater/shared';
import { type ArchiveKeys, deriveKeys } from './archive-keys.ts';
import {
  type ArchiveEnd,
  type ArchiveHead,
  damaged,
  isEnd,
  linesOfFile,
  readArchiveHead,
  readMarked,
} from './archive-lines.ts';

export interface CheckedArchive {
  head: ArchiveHead;
  keys: ArchiveKeys;
  end: ArchiveEnd;
}

const LINE_FEED = Buffer.from('\n');

/** Reads the whole file. Throws INVALID_REQUEST where it is not an archive as it was written. */
export async function checkArchive(file: string, passphrase: string): Promise<CheckedArchive> {
  let first: Buffer | undefined;
  for await (const line of linesOfFile(file)) {
    first = line;
    break;
  }
  const head = readArchiveHead(first);
  const keys = await deriveKeys(passphrase, head.key);
  const mac = keys.mac();
  let held: Buffer | undefined;
  for await (const line of linesOfFile(file)) {
    if (held !== undefined) mac.update(held).update(LINE_FEED);
    held = line;
  }
  const end = held === undefined ? undefined : readMarked(held, '$end');
  if (!isEnd(end)) throw damaged('is truncated');
  const [made, wanted] = [mac.digest(), Buffer.from(end.mac, 'hex')];
  if (made.length !== wanted.length || !timingSafeEqual(made, wanted))
    throw new HeadwaterError(
      'INVALID_REQUEST',
      'The passphrase is not that of the archive, or the archive was changed after it was written. Nothing was changed.',
    );
  return { head, keys, end };
}
