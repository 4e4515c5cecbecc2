import type { Page } from '@headwater/engine';
import { joinParts, type LargeAnswer } from './answer-text.ts';
import type { Reply } from './endpoint.ts';
import type { CountChars } from './query-turns.ts';
import { charsIn, recordParts } from './raw-json.ts';
import { pageInfo } from './resources/page.ts';

/** The fields of an answer; both empty: all. */
export interface Selection {
  kept: ReadonlySet<string>;
  dropped: ReadonlySet<string>;
}

/** Read once for an answer: a list would read it again for each of its items. */
export function selectionOf({ include, exclude }: { include?: unknown; exclude?: unknown }): Selection {
  return { kept: namesIn(include), dropped: namesIn(exclude) };
}

function namesIn(list: unknown): Set<string> {
  if (typeof list !== 'string') return new Set();
  return new Set(
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
}

/** Null where nothing is answered. */
export async function chosenTextOf(
  reply: Reply,
  selection: Selection,
  count: CountChars,
): Promise<string | LargeAnswer | null> {
  switch (reply.kind) {
    case 'none':
      return null;
    case 'item':
      return joinParts(itemParts(reply.data, selection, count));
    case 'list':
      return joinParts(listParts(reply.page, selection, count));
    case 'messages':
      throw new Error('A stream is not text');
  }
}

function* itemParts(item: object, selection: Selection, count: CountChars): Generator<string> {
  yield '{"data":';
  yield* selectedParts(item, selection, count);
  yield '}';
}

function* listParts(page: Page<object>, selection: Selection, count: CountChars): Generator<string> {
  yield `{"page_info":${JSON.stringify(pageInfo(page))},"data":[`;
  for (const [index, item] of page.items.entries()) {
    if (index > 0) yield ',';
    yield* selectedParts(item, selection, count);
  }
  yield ']}';
}

function selectedParts(record: object, { kept, dropped }: Selection, count: CountChars): Iterable<string> {
  if (kept.size === 0 && dropped.size === 0) return recordParts(record);
  const isShown = (name: string) => (kept.size === 0 || kept.has(name)) && !dropped.has(name);
  const fields = Object.entries(record);
  for (const [name, value] of fields) if (!isShown(name)) count(charsIn(value));
  return recordParts(Object.fromEntries(fields.filter(([name]) => isShown(name))));
}
