import { type AccountLimits, accountLimits } from '@headwater/shared';
import {
  bundleComponent,
  type ComponentBundle,
  type RunEntry,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from '@headwater/sandbox-runtime';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { sharedConfinement } from './confinement.ts';
import { type RecordingHost, recordingHost } from './run-host.ts';

export interface RunOptions extends Partial<Omit<RunRequest, 'bundle' | 'limits'>> {
  event?: unknown;
  hook?: 'deploy' | 'activate' | 'deactivate';
  cpuMs?: number;
  wallMs?: number;
  memoryMb?: number;
  /** Limits of the account that differ from the defaults. */
  account?: Partial<AccountLimits>;
  host?: RecordingHost;
}

export interface RanComponent {
  outcome: RunOutcome;
  host: RecordingHost;
}

/** Starts sandboxes, each stopped at the end of its test. Call it once, at the top of the file. */
export function sandboxesOfTests(): (options?: SandboxOptions) => Promise<Sandbox> {
  const started: Sandbox[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
  });
  return async (options = {}) => {
    const sandbox = await startSandbox({ confinement: await sharedConfinement(options.maxRssMb), ...options });
    started.push(sandbox);
    return sandbox;
  };
}

let lastKey = 0;

/** A key that no other run has: an isolate of its own. */
export function freshKey(): string {
  lastKey += 1;
  return `dc_test${lastKey}:1`;
}

/** Bundles code that the test expects to be valid. */
export async function bundle(code: string): Promise<ComponentBundle> {
  const outcome = await bundleComponent(code);
  if (!outcome.ok) throw new Error(`The test's component does not bundle: ${JSON.stringify(outcome.errors)}`);
  return outcome.bundle;
}

/** A component with this body of `run`; `event` is its argument. */
export function withRun(body: string, before = ''): string {
  return `${before}\nexport default { name: 'test', version: '1', async run(event) { ${body} } };`;
}

export async function runIn(
  sandbox: Sandbox,
  code: string | ComponentBundle,
  options: RunOptions = {},
): Promise<RanComponent> {
  const {
    event = {},
    hook,
    cpuMs = 5_000,
    // Beside other work a run of milliseconds takes seconds.
    wallMs = 30_000,
    memoryMb = 128,
    account = {},
    host = recordingHost(),
    ...request
  } = options;
  const called: RunEntry = hook === undefined ? { kind: 'run', event: JSON.stringify(event) } : { kind: 'hook', hook };
  const outcome = await sandbox.run(
    {
      tenantId: 'o_test',
      isolateKey: freshKey(),
      runId: 'inv_test',
      entry: called,
      props: {},
      alone: false,
      ...request,
      bundle: typeof code === 'string' ? await bundle(code) : code,
      limits: { cpuMs, wallMs, wallLimit: 'timerRunWallMs', memoryMb, account: accountLimits(account) },
    },
    host,
  );
  return { outcome, host };
}

/** A sandbox for one test file, stopped at its end. */
export function sandboxForFile(options: SandboxOptions = {}): {
  get(): Sandbox;
  run(code: string | ComponentBundle, options?: RunOptions): Promise<RanComponent>;
} {
  let sandbox: Sandbox | undefined;
  const get = (): Sandbox => {
    if (sandbox === undefined) throw new Error('The sandbox has not been started');
    return sandbox;
  };
  beforeAll(async () => {
    // A file has one tenant: a process for another would be booted for nothing.
    const confinement = await sharedConfinement(options.maxRssMb);
    sandbox = await startSandbox({ blankProcesses: 0, confinement, ...options });
  });
  afterAll(async () => {
    await sandbox?.stop();
  });
  return { get, run: (code, runOptions) => runIn(get(), code, runOptions) };
}

/** Waits for a condition; long enough for a busy machine. */
export function soon<T>(read: () => T): ReturnType<typeof expect.poll<Awaited<T>>> {
  return expect.poll(read as () => Awaited<T>);
}
