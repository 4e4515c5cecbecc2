import { findTooMany } from '@headwater/shared';
import { AskError } from './ask-error.ts';

/** Arguments of one ask: keys and data of some megabytes may be written in them. */
const MAX_HEAD_CHARS = 8 * 1024 * 1024;
/**
 * A list with the same object four million times is small in an isolate, but parsing it takes more
 * memory than this process has.
 */
const BOUNDS = { values: 20_000, lists: 2_000, names: 2_000 };

/** JSON that a guest has written. Throws AskError, or what JSON.parse throws. */
export function readHead(json: unknown): unknown {
  if (typeof json !== 'string') throw new AskError('This is not supported');
  if (json.length > MAX_HEAD_CHARS || findTooMany(json, BOUNDS) !== undefined)
    throw new AskError('The arguments are too many or too long');
  return JSON.parse(json);
}
