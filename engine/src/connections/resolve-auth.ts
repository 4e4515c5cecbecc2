import { setTimeout as sleep } from 'node:timers/promises';
import { type ExceededLimit, LIMITS } from '@headwater/shared';
import { SealError } from '../secrets/index.ts';
import { type ConnectedAccountRow, leaseRefresh, recordHealth } from './connected-accounts.sql.ts';
import { type AccountContext, findAccount, openCredentials } from './account-context.ts';
import { refreshLeased } from './refresh-account.ts';
import type { StoredCredentials } from './stored-credentials.ts';

/** Credentials that can be used now. */
interface UsableAccount {
  row: ConnectedAccountRow;
  credentials: StoredCredentials;
  /** For how long they may be used without looking again. */
  validMs: number;
}

/** `message` is for the owner of the account. */
export type AuthOutcome = { ok: true; account: UsableAccount } | { ok: false; message: string; limit?: ExceededLimit };

export interface ResolveOptions {
  /** Fetches a new access token even where the old one seems good, or the account dead. */
  renew?: boolean;
}

/** Between two looks at what another node is fetching; twice as long each time. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;
/** How long an old token that another node renews is used; the new one is heard of. */
const LEASED_VALID_MS = 2_000;
/**
 * How long a new token is used, however short its provider says that it lives: asking again would
 * get no better one.
 */
const MIN_NEW_VALID_MS = 1_000;
/**
 * For credentials without an expiry. Notifications announce changes, so this only bounds the effect
 * of a lost one.
 */
const MAX_VALID_MS = 600_000;
/**
 * How long a token that could not be renewed, but still lives, is used before it is tried again.
 */
const RETRY_MS = 30_000;

/**
 * The credentials of an account with a fresh access token. One node at a time fetches a new one;
 * others use the old one for as long as it lives, and then wait for the new one. One new token is
 * fetched at most. Nothing is remembered or shared here: see createAuthCache and
 * createAccountResolver.
 */
export async function resolveAccount(
  context: AccountContext,
  accountId: string,
  id: string,
  options: ResolveOptions = {},
): Promise<AuthOutcome> {
  const deadlineMs = Date.now() + LIMITS.refreshLeaseSeconds * 1000 + LIMITS.providerTimeoutMs;
  let turn: Turn = { renew: options.renew === true, isRenewed: false };
  for (let pauseMs = FIRST_PAUSE_MS; ; ) {
    const row = await findAccount(context.sql, accountId, id);
    if (row === undefined)
      return fail(`There is no connected account ${id} in this account; connect one and choose it`);
    const outcome = await tryOnce(context, row, turn);
    if (typeof outcome === 'object') return outcome;
    turn = { renew: false, isRenewed: outcome === 'renewed' };
    if (outcome === 'leased') {
      await sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
    }
    if (Date.now() > deadlineMs) return fail(`A new access token of ${id} was not fetched in time; try again later`);
  }
}

interface Turn {
  renew: boolean;
  /** The turn before has stored a new token. */
  isRenewed: boolean;
}

/**
 * `renewed`: a new token was stored. `leased`: another node fetches one, or has done so since we
 * read.
 */
async function tryOnce(
  context: AccountContext,
  row: ConnectedAccountRow,
  { renew, isRenewed }: Turn,
): Promise<AuthOutcome | 'renewed' | 'leased'> {
  const credentials = openOrNothing(context, row);
  if (credentials === undefined) return fail(`The stored credentials of ${row.id} cannot be opened; connect it again`);
  const { oauth } = credentials;
  if (oauth === undefined) return use(row, credentials, MAX_VALID_MS);
  if (row.state === 'dead' && !renew) return fail(deadMessage(row));
  if (isRenewed) return useNew(row, credentials);
  const isExpired = isOver(row.expires_in_ms);
  const canRefresh = oauth.refreshToken !== undefined;
  if (!(canRefresh && (isOver(row.refresh_in_ms) || renew))) {
    if (!isExpired) return use(row, credentials, row.refresh_in_ms ?? MAX_VALID_MS);
    return end(context, row, 'The access token has expired, and the provider gave no refresh token');
  }
  const lease = { version: row.version, seconds: LIMITS.refreshLeaseSeconds };
  const until = row.is_leased ? undefined : await leaseRefresh(context.sql, row.account_id, row.id, lease);
  if (until !== undefined) {
    const refreshed = await refreshLeased(context, row, credentials, until);
    if (refreshed.ok) return 'renewed';
    const { limit } = refreshed;
    if (refreshed.kind === 'refused') return fail(deadMessage({ ...row, reason: refreshed.message }), limit);
    return isExpired || renew ? fail(unrenewedMessage(row, refreshed.message), limit) : use(row, credentials, RETRY_MS);
  }
  return isExpired || renew ? 'leased' : use(row, credentials, LEASED_VALID_MS);
}

/** Throws SealError where another node may have the key. */
function openOrNothing({ sealer }: AccountContext, row: ConnectedAccountRow): StoredCredentials | undefined {
  try {
    return openCredentials(sealer, row);
  } catch (error) {
    if (error instanceof SealError && error.fault !== 'unknown-key') return undefined;
    throw error;
  }
}

async function end(context: AccountContext, row: ConnectedAccountRow, reason: string): Promise<AuthOutcome> {
  const { sql } = context;
  await recordHealth(sql, row.account_id, row.id, { version: row.version, state: 'dead', reason, isCheck: false });
  return fail(deadMessage({ ...row, reason }));
}

function use(row: ConnectedAccountRow, credentials: StoredCredentials, validMs: number): AuthOutcome {
  return { ok: true, account: { row, credentials, validMs: validFor(row, validMs) } };
}

function useNew(row: ConnectedAccountRow, credentials: StoredCredentials): AuthOutcome {
  const validMs = validFor(row, row.refresh_in_ms ?? MAX_VALID_MS);
  return { ok: true, account: { row, credentials, validMs: Math.max(MIN_NEW_VALID_MS, validMs) } };
}

function validFor(row: ConnectedAccountRow, ms: number): number {
  return Math.max(0, Math.min(ms, row.expires_in_ms ?? MAX_VALID_MS, MAX_VALID_MS));
}

function fail(message: string, limit?: ExceededLimit): AuthOutcome {
  return { ok: false, message, ...(limit === undefined ? {} : { limit }) };
}

const isOver = (inMs: number | null) => inMs !== null && inMs <= 0;

function deadMessage(row: ConnectedAccountRow): string {
  return `The connected account ${row.id} (${row.definition.name}) has to be connected again: ${row.reason ?? 'it is dead'}`;
}

function unrenewedMessage(row: ConnectedAccountRow, why: string): string {
  return `No new access token could be fetched for the connected account ${row.id} (${row.definition.name}): ${why}`;
}
