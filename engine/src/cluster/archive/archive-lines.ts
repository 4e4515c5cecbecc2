import { createReadStream } from 'node:fs';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import { ARCHIVED_KINDS, type ArchivedKind } from '../../secrets/index.ts';
import type { KeyDerivation } from './archive-keys.ts';

/*
 * An archive is NDJSON. The first line is the head. A line `{"events":{…}}` is a row of a table, a
 * line `{"$secret":{…}}` a secret, and `{"$end":{…}}` the last line.
 */

export const FORM = 1;

export interface ArchiveHead {
  headwater_archive: number;
  made_at: string;
  account: { id: string; name: string };
  migrations: string[];
  key: KeyDerivation;
}

export interface ArchiveEnd {
  rows: number;
  secrets: number;
  /** HMAC-SHA256 of all lines before, in hex. */
  mac: string;
}

/** A secret at its place, with the text that its row has there. */
export interface ArchivedSecret {
  kind: ArchivedKind;
  id: string;
  prop: string;
  stored: string;
  sealed: string;
}

const LINE_FEED = 0x0a;
/** As newId makes them: another text may name something of the instance. */
const ACCOUNT_ID = /^o_[0-9A-Za-z]{1,64}$/;
const ROW = /^\{"(\w+)":(?=\{)/;

/** The table of a row, and the row as JSON text; undefined for another line. */
export function readRow(line: Buffer): { table: string; row: string } | undefined {
  const text = line.toString('utf8');
  const [begin, table] = ROW.exec(text) ?? [];
  if (begin === undefined || table === undefined || !text.endsWith('}')) return undefined;
  return { table, row: text.slice(begin.length, -1) };
}

/** The JSON of a line that begins with `{"<name>":`; undefined for another line. */
export function readMarked(line: Buffer, name: '$secret' | '$end'): unknown {
  if (!line.subarray(0, name.length + 4).equals(Buffer.from(`{"${name}":`))) return undefined;
  return (parseLine(line) as Record<string, unknown>)[name];
}

export function readArchiveHead(line: Buffer | undefined): ArchiveHead {
  const head = line === undefined ? undefined : parseLine(line);
  if (!isHead(head)) throw damaged('is not an archive of an account');
  if (head.headwater_archive !== FORM)
    throw damaged(`has the form ${head.headwater_archive}, which this version does not know`);
  if (!ACCOUNT_ID.test(head.account.id)) throw damaged('names an account without a valid id (o_…)');
  return head;
}

function isHead(value: unknown): value is ArchiveHead {
  const head = value as Partial<ArchiveHead> | null | undefined;
  return (
    typeof head?.headwater_archive === 'number' &&
    typeof head.account?.id === 'string' &&
    typeof head.account.name === 'string' &&
    Array.isArray(head.migrations) &&
    typeof head.key?.salt === 'string'
  );
}

export function isEnd(value: unknown): value is ArchiveEnd {
  const end = value as Partial<ArchiveEnd> | null | undefined;
  return typeof end?.rows === 'number' && typeof end.secrets === 'number' && typeof end.mac === 'string';
}

export function isSecret(value: unknown): value is ArchivedSecret {
  const names = ['kind', 'id', 'prop', 'stored', 'sealed'] as const;
  const secret = value as Partial<ArchivedSecret> | null | undefined;
  return (
    names.every((name) => typeof secret?.[name] === 'string') && ARCHIVED_KINDS.some((kind) => kind === secret?.kind)
  );
}

function parseLine(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}

export function damaged(why: string): HeadwaterError {
  return new HeadwaterError('INVALID_REQUEST', `The archive ${why}. Nothing was changed.`);
}

/** The lines of a file, without their line feeds. Holds one of them, and a piece of the file. */
export async function* linesOfFile(file: string): AsyncGenerator<Buffer, undefined> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  const stream: AsyncIterable<Buffer> = createReadStream(file);
  for await (const piece of stream) {
    let from = 0;
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...held, piece.subarray(from, at)]);
      held = [];
      heldBytes = 0;
      from = at + 1;
    }
    held.push(piece.subarray(from));
    heldBytes += piece.length - from;
    if (heldBytes > LIMITS.maxArchiveLineBytes)
      throw damaged(`has a line of more than ${LIMITS.maxArchiveLineBytes} bytes`);
  }
  if (heldBytes > 0) throw damaged('is truncated');
  return undefined;
}
