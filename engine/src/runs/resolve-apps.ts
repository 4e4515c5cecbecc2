import { limitFault, type RunFault } from '@headwater/sandbox-runtime';
import { LIMITS, type RunProp } from '@headwater/shared';
import type { AuthCache } from '../connections/index.ts';
import { createSecretCount, type SecretValue } from '../secrets/index.ts';
import type { SourceProp } from '../props/index.ts';

interface Resolved {
  auth: Record<string, unknown>;
  bytes: number;
}

export type ResolvedProps =
  /** `secrets`: what of the connected accounts may not leave the run. */
  { ok: true; props: Record<string, RunProp>; secrets: SecretValue[] } | { ok: false; fault: RunFault };

/**
 * Puts what components read as `$auth` in the place of connected accounts, right before a run.
 * Hundreds of props may have the same account, which is fetched once, and named for the first of
 * them; and it ends before it has fetched more secrets than a run may have.
 */
export async function resolveApps(
  resolve: AuthCache['resolve'],
  accountId: string,
  props: Readonly<Record<string, SourceProp>>,
): Promise<ResolvedProps> {
  const resolved = Object.create(null) as Record<string, RunProp>;
  const secrets: SecretValue[] = [];
  const accounts = new Map<string, Resolved>();
  const count = createSecretCount();
  let used = 0;
  for (const [name, prop] of Object.entries(props)) {
    if (prop.kind !== 'app') {
      resolved[name] = prop;
      continue;
    }
    const { app, provisionId } = prop;
    if (provisionId === undefined) {
      resolved[name] = { kind: 'app', app, auth: {} };
      continue;
    }
    const key = `${app} ${provisionId}`;
    let account = accounts.get(key);
    if (account === undefined) {
      const outcome = await resolve(accountId, provisionId, app);
      if (!outcome.ok) return { ok: false, fault: { code: 'AUTH_FAILED', message: outcome.message } };
      const { auth, secrets: secretsOf } = outcome.resolved;
      const more = secretsOf(name);
      const fault = count(more);
      if (fault !== undefined) return { ok: false, fault };
      secrets.push(...more);
      account = { auth, bytes: Buffer.byteLength(JSON.stringify(auth)) };
      accounts.set(key, account);
    }
    resolved[name] = { kind: 'app', app, auth: account.auth };
    used += account.bytes;
    if (used > LIMITS.maxRunAuthBytes) return { ok: false, fault: tooMuchAuth(used) };
  }
  return { ok: true, props: resolved, secrets };
}

function tooMuchAuth(used: number): RunFault {
  return limitFault({ name: 'maxRunAuthBytes', value: LIMITS.maxRunAuthBytes, used });
}
