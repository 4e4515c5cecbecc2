import type {
  ComponentBundle,
  FetchOutcome,
  FetchRequest,
  RunEntry,
  RunFault,
  RunHost,
  RunOutcome,
  RunRequest,
  Sandbox,
} from '@headwater/sandbox-runtime';
import { createLimiter, HeadwaterError, LIMITS, newId, notFound } from '@headwater/shared';
import type { LimitsCache } from '../accounts/index.ts';
import type { AuthCache } from '../connections/index.ts';
import type { CallDataStore } from '../data-stores/index.ts';
import type { FetchTenant } from '../egress/index.ts';
import { endAtPace, type ReadDbInTurn } from '../fairness/index.ts';
import { outcomeWithoutSecrets, resolveApps, runLimits } from '../runs/index.ts';
import { createRedactor, createSecretCount, type SecretValue } from '../secrets/index.ts';
import type { SourceProp } from '../props/index.ts';

export interface ConfigureRunParts {
  /** Bundle of a component that the caller may use. */
  readBundle: (componentId: string) => Promise<ComponentBundle | undefined>;
  sandbox: Pick<Sandbox, 'run'>;
  limits: Pick<LimitsCache, 'get'>;
  fetch: (tenant: FetchTenant, request: FetchRequest, signal: AbortSignal) => Promise<FetchOutcome>;
  callDataStore: CallDataStore;
  resolveAuth: AuthCache['resolve'];
  /** A value of a source's `$.service.db` as JSON text. */
  readDbValue: (sourceId: string, key: string, onAway: () => void) => Promise<string | undefined>;
  readDbInTurn: ReadDbInTurn;
}

export interface ConfigureRun {
  accountId: string;
  component: { id: string };
  props: Record<string, SourceProp>;
  secrets: readonly SecretValue[];
  /** Source whose `$.service.db` the run reads; absent: the store is empty. */
  sourceId?: string;
  entry: RunEntry;
  /** The beginning of messages: "The options of the prop repo". */
  what: string;
}

const MAX_SHOWN_LOGS = 5;
const PACE = { smallChars: LIMITS.smallValueChars, charsPerSecond: LIMITS.propAnswerCharsPerSecond };

/**
 * Runs a component's code about its props as a hook runs, and returns its JSON text without the
 * account's secrets. Runs a few at a time for each account, because the dispatcher does not
 * schedule them. Throws the error of the run.
 */
export function createConfigureRuns(parts: ConfigureRunParts): (run: ConfigureRun) => Promise<string> {
  const turns = createLimiter(LIMITS.maxPropRunsPerTenant);
  return async (run) => {
    const account = await parts.limits.get(run.accountId);
    const end = await turns.take(run.accountId, AbortSignal.timeout(account.hookWallMs));
    if (end === undefined) {
      const value = LIMITS.maxPropRunsPerTenant;
      const message = `${run.what} waited too long, because ${value} such runs of this account are under way. Try again`;
      const limit = { name: 'maxPropRunsPerTenant', value, used: value + 1 } as const;
      throw new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: 1, limit });
    }
    let answer = '';
    try {
      answer = await perform(parts, run);
      return answer;
    } finally {
      endAtPace(end, answer.length, PACE);
    }
  };
}

async function perform(parts: ConfigureRunParts, run: ConfigureRun): Promise<string> {
  const { accountId, component, entry, what } = run;
  const resolved = await resolveApps(parts.resolveAuth, accountId, run.props);
  if (!resolved.ok) throw errorOf(resolved.fault);
  const secrets = [...run.secrets, ...resolved.secrets];
  const tooMany = createSecretCount()(secrets);
  if (tooMany !== undefined) throw errorOf(tooMany);
  const bundle = await parts.readBundle(component.id);
  if (bundle === undefined) throw notFound('component', component.id);
  const limits = runLimits('hook', await parts.limits.get(accountId));
  const redactor = createRedactor(secrets);
  await redactor?.ready();
  const logs: string[] = [];
  const request: Omit<RunRequest, 'runId' | 'alone'> = {
    tenantId: accountId,
    // Saved components do not change: forms of one share a warm isolate.
    isolateKey: `${component.id}:props`,
    bundle,
    entry,
    props: resolved.props,
    limits,
  };
  const host = hostOf(parts, run, { id: accountId, limits: limits.account }, logs);
  const outcome = outcomeWithoutSecrets(await runRepeated(parts, request, host), redactor);
  if (!outcome.ok)
    throw failed(
      what,
      outcome,
      logs.map((line) => redactor?.text(line) ?? line),
    );
  const result = outcome.result ?? 'null';
  return (await redactor?.jsonInTurns(result)) ?? result;
}

function errorOf({ code, message, limit }: RunFault): HeadwaterError {
  return new HeadwaterError(code, message, limit === undefined ? {} : { limit });
}

/** A run stores nothing, so one whose process died without its fault can run again, alone. */
async function runRepeated(
  { sandbox }: ConfigureRunParts,
  request: Omit<RunRequest, 'runId' | 'alone'>,
  host: RunHost,
): Promise<RunOutcome> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await sandbox.run({ ...request, runId: newId('invocation'), alone: attempt > 1 }, host);
    if (outcome.ok || !outcome.innocent || attempt === LIMITS.maxInvocationAttempts) return outcome;
  }
}

function hostOf(parts: ConfigureRunParts, run: ConfigureRun, tenant: FetchTenant, logs: string[]): RunHost {
  const { sourceId } = run;
  return {
    // The guest throws at such a call, so these come only from a compromised process.
    emit: () => undefined,
    respond: () => undefined,
    dbSet: () => undefined,
    log(line) {
      logs.push(line.message);
      if (logs.length > MAX_SHOWN_LOGS) logs.shift();
    },
    dbGet: async (key) =>
      sourceId === undefined
        ? undefined
        : parts.readDbInTurn(tenant.id, () => parts.readDbValue(sourceId, key, () => undefined)),
    fetch: (request, signal) => parts.fetch(tenant, request, signal),
    dataStore: (call, signal) => parts.callDataStore(tenant, call, signal),
  };
}

function failed(what: string, outcome: Extract<RunOutcome, { ok: false }>, logs: readonly string[]): HeadwaterError {
  const { code, message, limit } = outcome.fault;
  const fields = logs.length === 0 ? [] : [{ path: 'logs', message: logs.join('\n') }];
  // A component's own message to its user stays unchanged.
  const text = code === 'CONFIGURATION_ERROR' ? message : `${what} failed: ${message}`;
  return new HeadwaterError(code, text, { fields, ...(limit === undefined ? {} : { limit }) });
}
