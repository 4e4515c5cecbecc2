import { type Fault, type FieldError, HeadwaterError, ID_PREFIXES, newId, notFound } from '@headwater/shared';
import type { AccountRoom } from '../../accounts/index.ts';
import {
  changedMeanwhile,
  checkCondition,
  contentTag,
  findTextFault,
  type SubscriptionKey,
  type SubscriptionRecord,
  type Subscriptions,
  throwFields,
} from '../../contract/index.ts';
import { WEBHOOKS_CHANNEL } from '../../events/index.ts';
import { createSubscription, setFilter } from './create-subscription.sql.ts';
import { type Database, inPageOrder, readPage } from '../../db/index.ts';
import { deleteSubscription } from './delete-subscription.sql.ts';
import { readEmitterNames, readSubscriptions, type SubscriptionRow } from './read-subscriptions.sql.ts';
import { isForWebhooks, requireListener } from './require-listener.ts';
import { filterJson, readGivenFilter } from './given-filter.ts';

/** Every source of the account, or every workflow: those there are and those to come. */
const GLOBS: ReadonlySet<string> = new Set(['dc_*', 'p_*']);

/**
 * Subscriptions as the API sees them: an emitter, a listener and a channel.
 * - Emitter: a source or workflow of the account, `dc_*` or `p_*`. The account itself emits on the
 *   channel `$webhooks`.
 * - Listener: a webhook, source or workflow of the account.
 * - Channel: `''` is the default one; a pattern matches several. `$errors` and `$logs` are channels
 *   like any other.
 *
 * A filter selects events among them.
 */
export function createSubscriptions(options: { db: Database; room: AccountRoom }): Subscriptions {
  const { db, room } = options;

  const find = async (accountId: string, id: string) => recordOf(await findRow(db, accountId, id));

  return {
    async create(who, key) {
      validateKey(key);
      requireListener(who, key.listenerId);
      const { emitterId, listenerId, eventName = '' } = key;
      const isOfAccount = isOwnWebhooks(who.accountId, key);
      const filter = readGivenFilter(key.filter);
      const wanted = { id: newId('subscription'), accountId: who.accountId, emitterId, listenerId, eventName, filter };
      const outcome = await room.make(who.accountId, (limits) =>
        createSubscription(db.sql, wanted, isOfAccount || GLOBS.has(emitterId), limits),
      );
      switch (outcome.kind) {
        case 'unknown-emitter':
          throw unknownEmitter(emitterId);
        case 'unknown-listener':
          throw unknownListener(listenerId);
        case 'subscribed':
          return find(who.accountId, outcome.id);
      }
    },
    async get(who, id) {
      const row = await findRow(db, who.accountId, id);
      if (isForWebhooks(who) && !row.listenerId.startsWith(ID_PREFIXES.webhook)) throw notFound('subscription', id);
      return tagged(row);
    },
    update: (who, id, change, condition) => changeFilter(db, who, id, change, condition),
    async list(who, request) {
      const query = {
        table: 'subscriptions',
        accountId: who.accountId,
        order: 'created',
        ...(isForWebhooks(who) && { where: db.sql`and starts_with(listener_id, 'wh_')` }),
      } as const;
      const { ids, ...page } = await readPage(db.sql, query, request);
      const rows = inPageOrder(ids, await readSubscriptions(db, who.accountId, ids));
      return { ...page, items: rows.map(recordOf) };
    },
    async delete(who, key) {
      validateKey(key);
      requireListener(who, key.listenerId);
      const { emitterId, listenerId, eventName = '' } = key;
      const existed = await deleteSubscription(db, { accountId: who.accountId, emitterId, listenerId, eventName });
      if (!existed) throw notFound('subscription', `of ${listenerId} to ${emitterId}${eventName && `, ${eventName}`}`);
    },
    async emitters({ accountId }, request) {
      const where = db.sql`and deleted_at is null`;
      const { ids, ...page } = await readPage(
        db.sql,
        { table: 'emitters', accountId, where, order: 'created' },
        request,
      );
      return { ...page, items: inPageOrder(ids, await readEmitterNames(db.sql, accountId, ids)) };
    },
  };
}

/** Throws INVALID_REQUEST for another channel of the account. */
function isOwnWebhooks(accountId: string, { emitterId, eventName = '' }: SubscriptionKey): boolean {
  if (emitterId !== accountId) return false;
  if (eventName !== WEBHOOKS_CHANNEL)
    throwFields([
      { path: 'event_name', message: `must be ${WEBHOOKS_CHANNEL}: the account emits on no other channel` },
    ]);
  return true;
}

function validateKey(key: SubscriptionKey): void {
  const fault = findIdFault(key.emitterId);
  throwFields([...(fault === undefined ? [] : [{ path: 'emitter_id', ...fault }]), ...listenerKeyFaults(key)]);
}

type ListenerKey = Omit<SubscriptionKey, 'emitterId'>;

/** Throws INVALID_REQUEST for a listener or channel that cannot be one. */
export function checkListenerKey(key: ListenerKey): void {
  throwFields(listenerKeyFaults(key));
}

function listenerKeyFaults(key: ListenerKey): FieldError[] {
  const errors: FieldError[] = [];
  const check = (path: string, fault: Fault | undefined) => {
    if (fault !== undefined) errors.push({ path, ...fault });
  };
  check('listener_id', findIdFault(key.listenerId) ?? findListenerFault(key.listenerId));
  check('event_name', findTextFault(key.eventName, 'maxChannelChars'));
  return errors;
}

function findIdFault(id: string): Fault | undefined {
  return id === '' ? { message: 'is required' } : findTextFault(id, 'maxNameChars');
}

function findListenerFault(id: string): Fault | undefined {
  return GLOBS.has(id)
    ? { message: 'must be one webhook (wh_…), source (dc_…) or workflow (p_…): a pattern cannot listen' }
    : undefined;
}

/** NOT_FOUND for a source or workflow that the account does not have. */
export function unknownEmitter(id: string): HeadwaterError {
  return unknown('emitter_id', kindOf(id), id);
}

/** NOT_FOUND for a webhook, source or workflow that the account does not have. */
export function unknownListener(id: string): HeadwaterError {
  return unknown('listener_id', id.startsWith(ID_PREFIXES.webhook) ? 'webhook' : kindOf(id), id);
}

function kindOf(emitterId: string): string {
  return emitterId.startsWith(ID_PREFIXES.workflow) ? 'workflow' : 'source';
}

function unknown(path: string, what: string, id: string): HeadwaterError {
  const { message } = notFound(what, id);
  return new HeadwaterError('NOT_FOUND', `${path}: ${message}`, { fields: [{ path, message }] });
}

async function findRow(db: Database, accountId: string, id: string): Promise<SubscriptionRow> {
  const [row] = id.includes('\0') ? [] : await readSubscriptions(db, accountId, [id]);
  if (row === undefined) throw notFound('subscription', id);
  return row;
}

async function changeFilter(db: Database, ...[who, id, change, condition]: Parameters<Subscriptions['update']>) {
  const { accountId } = who;
  const filter = readGivenFilter(change.filter);
  const before = await findRow(db, accountId, id);
  requireListener(who, before.listenerId);
  checkCondition(`subscription ${id}`, tagOf(before), condition);
  const seen = condition === undefined ? {} : { seen: before.filter };
  const isSet = await setFilter(db.sql, id, { accountId, filter, ...seen });
  const after = await findRow(db, accountId, id);
  if (!isSet) throw changedMeanwhile(`subscription ${id}`);
  return tagged(after);
}

const tagOf = ({ filter }: SubscriptionRow) => contentTag(filter);

function tagged(row: SubscriptionRow) {
  return { ...recordOf(row), tag: tagOf(row) };
}

function recordOf(row: SubscriptionRow): SubscriptionRecord {
  return {
    id: row.id,
    emitterId: row.emitterId,
    listenerId: row.listenerId,
    eventName: row.eventName,
    filter: filterJson(row.filter),
    createdAt: row.createdAt,
  };
}
