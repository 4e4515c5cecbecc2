import type { RunFault } from '@headwater/sandbox-runtime';
import type { RunProp } from '@headwater/shared';
import type { AuthCache } from '../connected-accounts/auth-cache.ts';
import { createRedactor, type Redactor, type SecretValue } from '../secrets/redactor.ts';
import { resolveApps } from './resolve-apps.ts';
import type { SourceRuntime } from './source-runtime.ts';

/** What is run: a source, or a step of a workflow. */
type Preparable = Pick<SourceRuntime, 'accountId' | 'fault' | 'props' | 'secrets' | 'redactor'>;

/** What of it is decided anew for each run. */
type PreparedRun =
  | { ok: true; props: Record<string, RunProp>; redactor: Redactor | undefined }
  | { ok: false; fault: RunFault };

/** `others`: what besides its props and accounts may not leave the run. */
export type PrepareRun = (runtime: Preparable, others?: readonly SecretValue[]) => Promise<PreparedRun>;

/** Fetches what connected accounts are worth now. What takes their secrets out of texts is made anew when they change. */
export function createRunPreparer(resolve: AuthCache['resolve']): PrepareRun {
  const made = new WeakMap<Preparable, { secrets: string; redactor: Redactor | undefined }>();

  function redactorFor(runtime: Preparable, ofAccounts: readonly SecretValue[]): Redactor | undefined {
    if (ofAccounts.length === 0) return runtime.redactor;
    const secrets = JSON.stringify(ofAccounts);
    const known = made.get(runtime);
    if (known?.secrets === secrets) return known.redactor;
    const redactor = createRedactor([...runtime.secrets, ...ofAccounts]);
    made.set(runtime, { secrets, redactor });
    return redactor;
  }

  return async (runtime, others = []) => {
    if (runtime.fault !== undefined) return { ok: false, fault: runtime.fault };
    const resolved = await resolveApps(resolve, runtime.accountId, runtime.props);
    if (!resolved.ok) return resolved;
    const redactor = redactorFor(runtime, [...resolved.secrets, ...others]);
    await redactor?.ready();
    return { ok: true, props: resolved.props, redactor };
  };
}
