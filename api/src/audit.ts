import type { Engine, NewAuditEntry, Principal } from '@headwater/engine';
import { HeadwaterError } from '@headwater/shared';
import type { Endpoint } from './endpoint.ts';
import type { ApiContext } from './environment.ts';
import { addressOf, type ReadClientFacts } from './ingest/client-facts.ts';
import { isOfMember } from './key-scope.ts';
import { given } from './parameters/given.ts';

/** Data on its way, not changes; or reads that are sent as a POST. */
const NOT_AUDITED = new Set([
  'publishEvents',
  'publishEventsToSource',
  'putDataStoreRecord',
  'deleteDataStoreRecord',
  'runSource',
  'runWorkflow',
  'resumeExecution',
  'configureProp',
  'reloadProps',
  'testWorkflow',
  'testUnsavedWorkflow',
  'createTunnel',
  'createStreamToken',
  'beginPasskey',
]);

/**
 * The caller in each account that has an entry of the change; the account of the request is first.
 * A change of the person, such as a new passkey, has an entry in each account of the person.
 */
export async function audiences({ people }: Pick<Engine, 'people'>, endpoint: Endpoint, who: Principal) {
  const users = isOfMember(endpoint) ? await people.usersOf(who) : [];
  const others = users.filter(({ accountId }) => accountId !== who.accountId);
  return [who, ...others.map((user): Principal => ({ ...who, ...user }))];
}

export function isAudited({ method, name }: Endpoint): boolean {
  return method !== 'get' && !NOT_AUDITED.has(name);
}

/**
 * The read that tells what is there before a change: that of the path up to `{id}`, for the same
 * callers.
 */
export function findBefore(endpoint: Endpoint, endpoints: readonly Endpoint[]): Endpoint | undefined {
  const [, path] = /^(\/v1\/[\w/]+\/\{id\})/.exec(endpoint.path) ?? [];
  if (!isAudited(endpoint) || path === undefined) return undefined;
  return endpoints.find(
    (one) =>
      one.method === 'get' &&
      one.path === path &&
      (one.access === endpoint.access || one.access === 'either') &&
      one.success.messages !== true &&
      !one.success.list &&
      one.parameters.safeParse({}).success &&
      (endpoint.schema === one.schema || (endpoint.path === path && endpoint.method !== 'post')),
  );
}

type Fields = Record<string, unknown>;

/** The client and the request, as each entry names them. */
export type AuditedRequest = Pick<NewAuditEntry, 'address' | 'requestId'>;

export function auditedRequest(c: ApiContext, clientFacts: ReadClientFacts | undefined): AuditedRequest {
  return { requestId: c.get('requestId'), ...given({ address: addressOf(c, clientFacts) }) };
}

export interface Change {
  endpoint: Endpoint;
  /** '' for the operator. */
  who: Principal;
  id: string;
  before: Fields | undefined;
  after?: Fields | undefined;
  request: AuditedRequest;
}

/** The entry of a change: without `after` as long as it is not made. */
export function auditEntry({ endpoint, who, id, before, after, request }: Change): NewAuditEntry {
  const isOperator = who.accountId === '';
  // The operator's changes of an account are shown to that account; its deletion stays the
  // operator's.
  const ofTenant = isOperator && id.startsWith('o_') && endpoint.method !== 'delete' ? id : undefined;
  const accountId = isOperator ? ofTenant : who.accountId;
  const made = after?.['id'];
  const shown = differing(before, after);
  return {
    ...(accountId === undefined ? {} : { accountId }),
    actorId: isOperator ? 'operator' : (who.keyId ?? who.userId),
    actorName: isOperator ? 'Operator' : (who.member?.email ?? who.keyName ?? who.userId),
    action: endpoint.name,
    thing: id !== '' ? id : typeof made === 'string' ? made : endpoint.path,
    ...shown,
    ...request,
  };
}

/** Only what differs: a source's code would be there twice for a change of its name. */
function differing(before: Fields | undefined, after: Fields | undefined): { before?: Fields; after?: Fields } {
  if (before === undefined || after === undefined) {
    return {
      ...(before === undefined ? {} : { before: masked(before) }),
      ...(after === undefined ? {} : { after: masked(after) }),
    };
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  // Asked of fields before they are masked: a new secret differs too.
  const only = (fields: Fields) => masked(Object.fromEntries(names.map((name) => [name, fields[name] ?? null])));
  return { before: only(before), after: only(after) };
}

const MASK = '***';
const SECRET_NAME = /secret|password|passphrase|token|api_?key|credential|private|authorization|cookie/i;
/** Names of fields whose values are all secret, whatever those are called. */
const SECRET_VALUES = new Set(['headers', 'auth', 'credentials']);
/** Keys of ours, wherever they stand. */
const OWN_KEYS = /\b(?:hw|whsec|whsk)_[\w+/=-]{8,}/g;
const MAX_TEXT_CHARS = 2_000;
const MAX_ENTRY_CHARS = 16_000;

export function masked(fields: Fields): Fields {
  const copy = maskValue(fields, false) as Fields;
  const text = JSON.stringify(copy);
  if (text.length <= MAX_ENTRY_CHARS) return copy;
  const names = Object.keys(copy).slice(0, 100);
  return { left_out: `${text.length} characters, more than ${MAX_ENTRY_CHARS}`, fields: names };
}

function maskValue(value: unknown, isSecret: boolean): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((one) => maskValue(one, isSecret));
  if (typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value as Fields).map(([name, one]) => [
        name,
        maskValue(one, isSecret || SECRET_VALUES.has(name) || (SECRET_NAME.test(name) && typeof one !== 'number')),
      ]),
    );
  }
  if (isSecret) return MASK;
  if (typeof value !== 'string') return value;
  const text = value
    .replaceAll(OWN_KEYS, MASK)
    .replace(/\/\/[^/@\s]+@/, `//${MASK}@`)
    .replaceAll('\0', '');
  return text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS).toWellFormed()}…` : text;
}

/** Undefined where there is none. */
export async function orNone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    // The change itself says so.
    if (error instanceof HeadwaterError) return undefined;
    throw error;
  }
}
