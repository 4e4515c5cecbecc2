import { slugOfName } from '../names/named-kinds.ts';
import type { Account } from './account.ts';
import type { Described, Kind, StackFile } from './stack-file.ts';
import type { StackState } from './stack-state.ts';
import { Unresolved } from './values.ts';

interface Candidate {
  id: string;
  names: (string | null | undefined)[];
}

/**
 * Id of the resource that a name in the file stands for. A resource that this stack made under the
 * name comes before one with that name or slug. Undefined if none exists. Throws Unresolved if
 * there are several.
 */
export function findResource(
  account: Account,
  state: StackState,
  { kind, key, fields }: Pick<Described, 'kind' | 'key' | 'fields'>,
): string | undefined {
  const all = candidates(account, kind);
  if (typeof fields['id'] === 'string') return all.find(({ id }) => id === fields['id'])?.id;
  const made = state.resources.find((one) => one.kind === kind && one.key === key);
  if (made !== undefined && all.some(({ id }) => id === made.id)) return made.id;
  const name = typeof fields['name'] === 'string' ? fields['name'] : key;
  for (const isNamed of [
    ({ id, names }: Candidate) => id === key || names.includes(name),
    ({ names }: Candidate) => names.includes(slugOfName(name)),
  ]) {
    const found = all.filter(isNamed);
    if (found.length > 1)
      throw new Unresolved(`${name}, which is the name of several in the account; rename them, or give an id`);
    if (found[0] !== undefined) return found[0].id;
  }
  return undefined;
}

export function isInAccount(account: Account, kind: Kind, id: string): boolean {
  return candidates(account, kind).some((one) => one.id === id);
}

function candidates(account: Account, kind: Kind): Candidate[] {
  switch (kind) {
    case 'environment_variable':
      return account.variables.map(({ name }) => ({ id: name, names: [name] }));
    case 'data_store':
      return account.stores.map(({ id, name }) => ({ id, names: [name] }));
    case 'source':
      return account.sources.map(({ id, name, name_slug: slug }) => ({ id, names: [name, slug] }));
    case 'workflow':
      return account.workflows.map(({ id, name, name_slug: slug }) => ({ id, names: [name, slug] }));
    case 'webhook':
      return account.webhooks.map(({ id, name }) => ({ id, names: [name] }));
    case 'subscription':
      return account.subscriptions.map(({ id }) => ({ id, names: [] }));
  }
}

const PENDING = 'pending';
/** The end of a subscription that is the account itself: it emits on `$webhooks`. */
export const OWN_ACCOUNT = 'account';
const WORDS: Readonly<Record<string, Kind>> = { source: 'source', workflow: 'workflow', webhook: 'webhook' };
const ANYTHING = /^(?:dc|p)_\*$|^(?:dc|p|wh)_[0-9A-Za-z]{20}$|^u_|^o_/;

/**
 * Id of one end of a subscription, or of a workflow's trigger. PENDING if it is in the file but not
 * created yet.
 */
export function findEnd(
  { file, account, state }: { file: StackFile; account: Account; state: StackState },
  word: string,
  kinds: readonly Kind[],
): string | undefined {
  if (ANYTHING.test(word)) return word;
  const [, prefix = '', rest = word] = /^(source|workflow|webhook):(.+)$/.exec(word) ?? [];
  const looked = WORDS[prefix] === undefined ? kinds : kinds.filter((kind) => kind === WORDS[prefix]);
  const described = file.resources.filter(({ kind, key }) => looked.includes(kind) && key === rest);
  const ends = described.length > 0 ? described : looked.map((kind) => ({ kind, key: rest, fields: {} }));
  const ids = ends.map((one) => findResource(account, state, one)).filter((id) => id !== undefined);
  if (ids.length > 1 || described.length > 1) return undefined;
  if (ids[0] !== undefined) return ids[0];
  if (described.length === 1) return PENDING;
  return word === OWN_ACCOUNT && kinds.includes('source') ? account.id : undefined;
}
