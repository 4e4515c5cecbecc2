import type postgres from 'postgres';
import { expect } from 'vitest';
import type { AccountLimits } from '../../shared/src/index.ts';
import type { HostileServer } from './hostile-server.ts';
import { makeTenant, type Tenant } from './hostile-tenant.ts';
import { ADMIN_KEY, callApi } from './server.ts';

/** The two accounts of an attack. */
export interface HostileAccounts {
  attacker: Tenant;
  neighbour: Tenant;
  /** They end with it. */
  own: boolean;
  /** Limits of the attacker that were set. */
  limited: Set<keyof AccountLimits>;
}

let ofFile: { path: string | undefined; accounts: HostileAccounts } | undefined;

/**
 * Accounts for one attack. The attacks of a file take over those of the attack before: a sandbox
 * process for a new tenant costs more than most attacks.
 */
export async function takeAccounts(server: HostileServer, { own }: { own: boolean }): Promise<HostileAccounts> {
  const path = expect.getState().testPath;
  const free = ofFile?.path === path && !own ? ofFile?.accounts : undefined;
  ofFile = undefined;
  if (free !== undefined) return free;
  const [attacker, neighbour] = await Promise.all([makeTenant(server, 'attacker'), makeTenant(server, 'neighbour')]);
  return { attacker, neighbour, own, limited: new Set() };
}

/** Leaves the accounts to the next attack of the file, as new ones are, or to nobody. */
export async function leaveAccounts(
  server: HostileServer,
  sql: postgres.Sql,
  accounts: HostileAccounts,
): Promise<void> {
  const ids = [accounts.attacker.id, accounts.neighbour.id];
  // No timer of an attack takes processor time from all those after it.
  const timers = await sql`delete from timers where account_id = any(${ids}::text[]) returning 1`;
  const [left] = await sql<{ some: boolean }[]>`
    select exists (select from invocations where account_id = any(${ids}::text[]))
      or exists (select from deliveries where account_id = any(${ids}::text[]) and status = 'pending') as some`;
  if (accounts.own || timers.length > 0 || left?.some !== false) return;
  await liftLimits(server, accounts);
  ofFile = { path: expect.getState().testPath, accounts };
}

async function liftLimits(server: HostileServer, { attacker, limited }: HostileAccounts): Promise<void> {
  if (limited.size === 0) return;
  await setLimits(server, attacker, Object.fromEntries([...limited].map((name) => [name, null])));
  limited.clear();
}

/** Sets limits of the account, as its operator does; null takes one back. */
export async function setLimits(
  server: HostileServer,
  tenant: Tenant,
  limits: Partial<Record<keyof AccountLimits, number | null>>,
): Promise<void> {
  const answer = await callApi(`${server.url}/v1/accounts/${tenant.id}/limits`, 'PUT', limits, ADMIN_KEY);
  if (answer.status !== 200) throw new Error(`The limits were not set: ${answer.status} ${answer.text}`);
}
