import type { RunFault } from '@headwater/sandbox-runtime';
import type { RunProp } from '@headwater/shared';
import type { AuthCache } from '../connected-accounts/auth-cache.ts';
import type { SecretValue } from '../secrets/redactor.ts';
import type { SourceProp } from '../sources/run-props.ts';

export type ResolvedProps =
  /** `secrets`: what of the connected accounts may not leave the run. */
  { ok: true; props: Record<string, RunProp>; secrets: SecretValue[] } | { ok: false; fault: RunFault };

/** Puts what components read as `$auth` in the place of connected accounts, right before a run. */
export async function resolveApps(
  resolve: AuthCache['resolve'],
  accountId: string,
  props: Readonly<Record<string, SourceProp>>,
): Promise<ResolvedProps> {
  const resolved = Object.create(null) as Record<string, RunProp>;
  const secrets: SecretValue[] = [];
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
    const outcome = await resolve(accountId, provisionId, app);
    if (!outcome.ok) return { ok: false, fault: { code: 'AUTH_FAILED', message: outcome.message } };
    resolved[name] = { kind: 'app', app, auth: outcome.resolved.auth };
    secrets.push(...outcome.resolved.secrets(name));
  }
  return { ok: true, props: resolved, secrets };
}
