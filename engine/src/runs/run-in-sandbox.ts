import type {
  ComponentBundle,
  RunEntry,
  RunFault,
  RunHost,
  RunLimits,
  RunOutcome,
  RunRequest,
  Sandbox,
} from '@headwater/sandbox-runtime';
import type { RunProp } from '@headwater/shared';
import type { HoldBundle } from './bundles.ts';
import type { SourceRuntime } from './source-runtime.ts';

export interface SandboxRun {
  runtime: SourceRuntime;
  entry: RunEntry;
  limits: RunLimits;
  props: Record<string, RunProp>;
  runId: string;
  /** Times that it was run on this node, this one included. */
  tries: number;
  alone: boolean;
}

/**
 * Runs an entry of a source, with the code of its component in memory for as long as that takes.
 */
export async function runInSandbox(
  { sandbox, holdBundle }: { sandbox: Sandbox; holdBundle: HoldBundle },
  run: SandboxRun,
  host: RunHost,
): Promise<RunOutcome> {
  const { accountId, componentId } = run.runtime;
  const held = await holdBundle(accountId, componentId);
  if (held === undefined)
    return failed({ code: 'INTERNAL', message: 'The component of the source is not there any more' });
  try {
    return await sandbox.run(requestOf(run, held.bundle), host);
  } finally {
    held.letGo();
  }
}

/** Outcome of a run that never started. */
export function failed(fault: RunFault): RunOutcome {
  return { ok: false, fault, innocent: false, cpuMs: 0, wallMs: 0 };
}

function requestOf(
  { runtime, entry, limits, props, runId, tries, alone }: SandboxRun,
  bundle: ComponentBundle,
): RunRequest {
  return {
    tenantId: runtime.accountId,
    isolateKey: runtime.isolateKey,
    runId: tries === 1 ? runId : `${runId}#${tries}`,
    bundle,
    entry,
    props,
    ...(runtime.dedupe === undefined ? {} : { dedupe: runtime.dedupe }),
    limits,
    alone,
  };
}
