import type { Principal, SourceCreate } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import { chooseEventsSource, readEventsSource } from './ingest.sql.ts';

/** A source for events from the API. A manual run emits its event too. */
export const INGEST_CODE = `// Events come from POST /v1/sources/{id}/events, and need no code.
export default {
  name: 'Events',
  description: 'Emits the events that the API is given for it.',
  version: '1.0.0',
  async run(event) {
    this.$emit(event);
  },
};
`;

/** The source of an account that events without one go to. */
export interface EventsSource {
  /** Its id; it is made where the account has none. */
  of(who: Principal): Promise<string>;
  /** The key of the one that takes its place, as it was deleted. */
  replace(who: Principal, id: string): Promise<string>;
}

export interface EventsSourceOptions {
  sql: Sql;
  create: (who: Principal, input: SourceCreate) => Promise<{ id: string }>;
  remove: (who: Principal, id: string) => Promise<void>;
}

const NAME = 'Events';
const MAX_KEPT = 10_000;

export function createEventsSource({ sql, create, remove }: EventsSourceOptions): EventsSource {
  /** By account, in the order in which they were first asked for. */
  const known = new Map<string, string>();
  const making = new Map<string, Promise<string>>();

  function keep(accountId: string, id: string): string {
    if (known.size >= MAX_KEPT) known.delete(known.keys().next().value as string);
    known.set(accountId, id);
    return id;
  }

  /** Two nodes may make one at once: the first that is noted stays. */
  async function make(who: Principal): Promise<string> {
    const { accountId } = who;
    const before = await readEventsSource(sql, accountId);
    if (before !== undefined) return keep(accountId, before);
    const made = await create(who, { name: NAME, componentCode: INGEST_CODE });
    const chosen = await chooseEventsSource(sql, accountId, made.id);
    if (chosen !== made.id) await remove(who, made.id);
    return keep(accountId, chosen);
  }

  function of(who: Principal): Promise<string> {
    const id = known.get(who.accountId);
    if (id !== undefined) return Promise.resolve(id);
    const begun = making.get(who.accountId);
    if (begun !== undefined) return begun;
    const started = make(who).finally(() => making.delete(who.accountId));
    making.set(who.accountId, started);
    return started;
  }

  return {
    of,
    replace(who, id) {
      if (known.get(who.accountId) === id) known.delete(who.accountId);
      return of(who);
    },
  };
}
