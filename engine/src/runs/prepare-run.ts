import type { RunFault } from '@headwater/sandbox-runtime';
import { LIMITS, type RunProp } from '@headwater/shared';
import type { AuthCache } from '../connections/index.ts';
import {
  createKeptRedactors,
  createRedactor,
  createSecretCount,
  type KeptRedactor,
  readyRedactor,
  type Redactor,
  type SecretValue,
} from '../secrets/index.ts';
import { resolveApps } from './resolve-apps.ts';
import type { SourceRuntime } from './source-runtime.ts';

/** A source, or a step of a workflow. */
type Preparable = Pick<SourceRuntime, 'accountId' | 'fault' | 'props' | 'secrets' | 'redactor'>;

/** Values that are decided anew for each run. The redactor is ready. */
export type PreparedRun =
  | { ok: true; props: Record<string, RunProp>; redactor: Redactor | undefined }
  | { ok: false; fault: RunFault; redactor: Redactor | undefined };

/** `others`: what besides its props and accounts may not leave the run. */
export type PrepareRun = (runtime: Preparable, others?: readonly SecretValue[]) => Promise<PreparedRun>;

/** The secrets are there to tell whether they are still the same. */
interface WithOthers extends KeptRedactor {
  others: readonly SecretValue[];
}

/**
 * Fetches what connected accounts are worth now. What takes their secrets out of texts is made anew
 * when they change, and kept for the next run. `maxKeptBytes`: of all that is kept.
 */
export function createRunPreparer(
  resolve: AuthCache['resolve'],
  maxKeptBytes: number = LIMITS.maxCachedRedactorBytes,
): PrepareRun {
  const kept = createKeptRedactors(maxKeptBytes);
  /**
   * Redactors with further secrets than those of the props. Weak references, because the byte limit
   * bounds the kept ones.
   */
  const made = new WeakMap<Preparable, WeakRef<WithOthers>>();

  /** With the secrets of its props alone. */
  async function ownRedactor({ accountId, redactor: unkept }: Preparable): Promise<Redactor | undefined> {
    const redactor = await readyRedactor(unkept);
    if (redactor !== undefined) kept.keep({ accountId, redactor });
    return redactor;
  }

  function redactorWith(runtime: Preparable, others: readonly SecretValue[]): WithOthers | RunFault | undefined {
    const known = made.get(runtime)?.deref();
    if (known !== undefined && areSame(known.others, others)) return known;
    const secrets = [...runtime.secrets, ...others];
    const fault = createSecretCount()(secrets);
    if (fault !== undefined) return fault;
    const redactor = createRedactor(secrets);
    if (redactor === undefined) return undefined;
    const fresh = { accountId: runtime.accountId, redactor, others };
    made.set(runtime, new WeakRef(fresh));
    return fresh;
  }

  async function failed(runtime: Preparable, fault: RunFault): Promise<PreparedRun> {
    return { ok: false, fault, redactor: await ownRedactor(runtime) };
  }

  return async (runtime, others = []) => {
    if (runtime.fault !== undefined) return failed(runtime, runtime.fault);
    const resolved = await resolveApps(resolve, runtime.accountId, runtime.props);
    if (!resolved.ok) return failed(runtime, resolved.fault);
    const { props } = resolved;
    const more = [...resolved.secrets, ...others];
    if (more.length === 0) return { ok: true, props, redactor: await ownRedactor(runtime) };
    const found = redactorWith(runtime, more);
    if (found !== undefined && 'code' in found) return failed(runtime, found);
    await found?.redactor.ready();
    if (found !== undefined) kept.keep(found);
    return { ok: true, props, redactor: found?.redactor };
  };
}

/** Mostly compares identical strings, since unchanged values are passed on. */
function areSame(known: readonly SecretValue[], others: readonly SecretValue[]): boolean {
  return (
    known.length === others.length &&
    known.every(({ name, value }, i) => value === others[i]?.value && name === others[i]?.name)
  );
}
