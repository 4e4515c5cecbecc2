import { nearest } from '@headwater/shared';
import type { ApiClient } from '../api/client.ts';
import { CliError } from '../cli-error.ts';
import { isIdOf, type Kind, KINDS, type Named } from './named-kinds.ts';

/**
 * Resolves an id, a slug or a name. An id is not checked here: the server does that. Throws with
 * the candidates if the name is ambiguous, or with the nearest names if it is unknown.
 */
export async function findNamed(
  api: ApiClient,
  kinds: readonly Kind[],
  text: string,
): Promise<{ kind: Kind; id: string }> {
  const kind = kinds.find((one) => isIdOf(one, text));
  if (kind !== undefined) return { kind, id: text };
  const all = (await Promise.all(kinds.map((one) => KINDS[one].list(api)))).flat();
  const found = matches(all, text);
  if (found.length === 1 && found[0] !== undefined) return found[0];
  throw found.length === 0 ? unknown(kinds, text, all) : ambiguous(kinds, text, found);
}

/** A slug is one thing of its kind; a name may be several. */
function matches(all: readonly Named[], text: string): Named[] {
  const bySlug = all.filter(({ id, slug }) => id === text || slug === text);
  return bySlug.length > 0 ? bySlug : all.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
}

function ambiguous(kinds: readonly Kind[], text: string, found: readonly Named[]): CliError {
  return new CliError('failure', `${found.length} ${describe(kinds)} are called ${text}`, {
    code: 'AMBIGUOUS_NAME',
    fields: found.map(({ id, name, slug }) => ({ path: id, message: slug === text ? name : `${name} (${slug})` })),
    hint: 'Name it by its id',
  });
}

function unknown(kinds: readonly Kind[], text: string, all: readonly Named[]): CliError {
  const similar = nearest(
    text,
    all.flatMap(({ name, slug }) => (slug === '' ? [name] : [slug])),
  );
  const listing = kinds.map((kind) => `hw list ${KINDS[kind].plural}`).join(' or ');
  return new CliError('notFound', `No ${listed(kinds)} is called ${text}`, {
    hint: similar.length > 0 ? `Did you mean ${similar.join(', ')}?` : `See: ${listing}`,
  });
}

function describe(kinds: readonly Kind[]): string {
  return listed(kinds.map((kind) => KINDS[kind].plural));
}

/** `a, b or c`. */
function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
