import { LIMITS } from '@headwater/shared';
import type { Page, RegistrySearch, RegistrySummary } from '../contract/index.ts';
import { notACursor, type Sql } from '../db/index.ts';
import { readRegistryPage, type RegistryPlace } from './read-registry.sql.ts';

/** Words beyond it narrow nothing that matters, and each costs time. */
const MAX_WORDS = 16;

/** See Registry.search. Throws INVALID_REQUEST naming a cursor that is none. */
export async function searchRegistry(sql: Sql, request: RegistrySearch): Promise<Page<RegistrySummary>> {
  const { limit, query, type, app } = request;
  const words = wordsOf(query ?? '');
  const page = await readRegistryPage(sql, {
    limit,
    ...(words === '' ? {} : { words }),
    ...(type === undefined ? {} : { type }),
    ...(app === undefined ? {} : { app }),
    ...placeOf('after', request.after),
    ...placeOf('before', request.before),
  });
  const [first, last] = [page.places[0], page.places.at(-1)];
  const cursors = first && last ? { startCursor: cursorOf(first), endCursor: cursorOf(last) } : {};
  return { items: page.items, total: page.total, ...cursors };
}

/**
 * Letters and digits alone reach the search language, so nothing in a query is read as part of it.
 */
function wordsOf(query: string): string {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words
    .slice(0, MAX_WORDS)
    .map((word) => `${word}:*`)
    .join(' & ');
}

const cursorOf = ({ rank, key }: RegistryPlace) => Buffer.from(`${rank}:${key}`).toString('base64url');

function placeOf(
  name: 'after' | 'before',
  cursor: string | undefined,
): { after?: RegistryPlace; before?: RegistryPlace } {
  if (cursor === undefined || cursor === '') return {};
  const match = /^([01]):([a-z0-9_-]{1,200})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (match !== null && cursor.length <= LIMITS.maxCursorChars)
    return { [name]: { rank: Number(match[1]), key: String(match[2]) } };
  throw notACursor(name);
}
