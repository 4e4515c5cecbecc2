import { type ComponentBundle, type FetchRequest, type RunHost, type Sandbox } from '@headwater/sandbox-runtime';
import { ACCOUNT_LIMITS, accountLimits } from '@headwater/shared';
import { createMock } from './mock-answer.ts';

export interface SandboxResult {
  ok: boolean;
  message: string;
  requests: number;
}

const TENANT = 'o_compat';

/** Runs a bundle in the sandbox, with the limits of a timer's run, against the mock. */
export async function runInSandbox(sandbox: Sandbox, bundle: ComponentBundle, name: string): Promise<SandboxResult> {
  const answer = createMock();
  let requests = 0;
  const host: RunHost = {
    emit: () => undefined,
    log: () => undefined,
    respond: () => undefined,
    dbSet: () => undefined,
    dbGet: () => Promise.resolve(undefined),
    dataStore: () => Promise.resolve({ ok: false, message: 'There is no store here' }),
    fetch: (request: FetchRequest) => {
      requests += 1;
      const { status, headers, body } = answer({ method: request.method, url: request.url });
      return Promise.resolve({
        ok: true,
        status,
        statusText: 'OK',
        headers: Object.entries(headers),
        url: request.url,
        redirected: false,
        body: new TextEncoder().encode(body),
      });
    },
  };
  const outcome = await sandbox.run(
    {
      tenantId: TENANT,
      isolateKey: name,
      runId: name,
      bundle,
      entry: { kind: 'run', event: '{}' },
      props: {},
      limits: {
        cpuMs: ACCOUNT_LIMITS.runCpuMs.default,
        wallMs: ACCOUNT_LIMITS.timerRunWallMs.default,
        wallLimit: 'timerRunWallMs',
        memoryMb: ACCOUNT_LIMITS.memoryMb.default,
        account: accountLimits(),
      },
      alone: false,
    },
    host,
  );
  if (outcome.ok) return { ok: true, message: '', requests };
  const { code, message, stack = '' } = outcome.fault;
  return { ok: false, message: `${code}: ${message}\n${stack}`, requests };
}
