import { expect } from 'vitest';
import { bundleProcess } from '../../sandbox-runtime/src/builder/bundle-process.ts';
import { DescribeClient, type LoadOutcome } from '../../sandbox-runtime/src/pool/describe-client.ts';
import { RunClient } from '../../sandbox-runtime/src/pool/run-client.ts';
import { SandboxProcess } from '../../sandbox-runtime/src/pool/sandbox-process.ts';
import { createStarter } from '../../sandbox-runtime/src/starter/starter.ts';
import { pickGuestLimits } from '../../sandbox-runtime/src/bridge/guest-limits.ts';
import { CALL, POST } from '../../sandbox-runtime/src/bridge/isolate-codes.ts';
import type { RunHost } from '../../sandbox-runtime/src/sandbox.ts';
import type { RunEntry, RunOutcome } from '../../sandbox-runtime/src/sandbox-types.ts';
import { accountLimits } from '../../shared/src/index.ts';
import { sharedConfinement } from './confinement.ts';
import { recordingHost } from './run-host.ts';
import { recordingStep } from './step-kit.ts';

/*
 * A sandbox process as all are, with isolates in an attacker's hands: the guest in them is this
 * one. It gives the bridge to the code that a run has as its prop: `post(kind, run, a, b, c)`,
 * `read(run, key)`, and POST with the kinds by name.
 */
const GUEST = `
globalThis.__headwaterBoot = (post, ask, dbGet) => {
  const POST = ${JSON.stringify(POST)};
  const read = (run, key) => dbGet.applySyncPromise(undefined, [run, key]);
  return (kind, run, a, b, c) => {
    if (kind === ${CALL.outline}) return globalThis.outline();
    if (kind === ${CALL.load}) return globalThis.failure;
    if (kind === ${CALL.start}) new Function('post', 'read', 'POST', 'run', JSON.parse(c).code)(post, read, POST, run);
  };
};`;
/** Reads a value, which it waits for, emits it and ends. */
const INNOCENT = `
const word = read(run, 'word');
post(POST.emit, run, word.slice(1), '{"emittedAtMs":1}');
post(POST.done, run);`;

/** Far from what an attack takes: beside other work a run of milliseconds takes seconds. */
const LIMITS = { cpuMs: 30_000, wallMs: 120_000, wallLimit: 'timerRunWallMs', memoryMb: 64 } as const;
const BUNDLE = { code: 'export default {}', hash: 'innocent', sourceMap: '' };
const CHECK_MS = 100;
/** An attack has two, and the most that one leaves behind is some 20 MB. */
const MAX_TASKS = 12;

export interface HostilePosts {
  /**
   * Runs the code beside a run of the same account that ends after it, in one process; expects that
   * this one ends well, and that the process lives.
   */
  run(code: string, entry?: RunEntry): Promise<RunOutcome>;
  /** Describes a component with this module code, beside such a run. */
  describe(code: string): Promise<LoadOutcome | undefined>;
  stop(): Promise<void>;
}

export async function startHostilePosts(): Promise<HostilePosts> {
  const problems: string[] = [];
  const log = (_level: string, message: string, fields: Record<string, unknown>) =>
    void problems.push(`${message}: ${JSON.stringify(fields)}`);
  const starter = await createStarter();
  const confinement = await sharedConfinement(512);
  const processCode = await bundleProcess();
  const launch = () =>
    new SandboxProcess({
      settings: { limits: pickGuestLimits(accountLimits()), maxIsolates: 4, maxWarmHeapMb: 64, spareMemoryMb: 64 },
      processCode,
      starter,
      launch: () => confinement.launch(),
      guest: { code: GUEST, snapshot: undefined },
      maxRssMb: 512,
      log,
      onFree: () => undefined,
      onExit: () => undefined,
    });
  let process = launch();
  await process.ready;
  const watch = setInterval(() => process.check(performance.now()), CHECK_MS);
  problems.length = 0;
  let isolates = 0;

  /**
   * Attacks of twenty megabytes fill a process within seconds: each is given another in good time.
   */
  async function renew(): Promise<void> {
    if (process.tasksServed < MAX_TASKS) return;
    const last = process;
    process = launch();
    last.end();
    await Promise.all([last.whenExited(), process.ready]);
  }

  function start(code: string, entry: RunEntry, host: RunHost): Promise<RunOutcome> {
    const account = accountLimits();
    const isolateKey = `dc_${isolates++}:1`;
    const request = { tenantId: 'o_a', isolateKey, runId: 'inv_a', bundle: BUNDLE, entry, props: {}, alone: false };
    return new Promise((resolve) => {
      const client = new RunClient({ ...request, limits: { ...LIMITS, account } }, host, resolve);
      process.setLimits(account);
      const name = entry.kind === 'hook' ? entry.hook : entry.kind;
      const order = { kind: 'run', isolateKey, entry: name, limits: LIMITS, event: '' } as const;
      process.start({ ...order, props: JSON.stringify({ code }) }, BUNDLE, LIMITS.wallMs, client);
    });
  }

  /** Makes the attack while a run of the same account waits. */
  async function beside<Result>(code: string, attack: () => Promise<Result>): Promise<Result> {
    await renew();
    const begun = Promise.withResolvers<void>();
    const attacked = Promise.withResolvers<void>();
    const host = recordingHost();
    const reading = async (): Promise<string> => {
      begun.resolve();
      await attacked.promise;
      return '"innocent"';
    };
    const innocent = start(INNOCENT, { kind: 'run', event: '{}' }, { ...host, dbGet: reading });
    await Promise.race([begun.promise, innocent]);
    const result = await attack();
    attacked.resolve();
    const outcome = await innocent;
    expect({ code, result, outcome, data: host.data(), problems, exited: process.exited }).toMatchObject({
      outcome: { ok: true },
      data: ['innocent'],
      problems: [],
      exited: false,
    });
    return result;
  }

  return {
    run: (code, entry = { kind: 'run', event: '{}' }) =>
      beside(code, () => start(code, entry, { ...recordingHost(), step: recordingStep().step })),
    describe: (code) =>
      beside(
        code,
        () =>
          new Promise((resolve) => {
            const client = new DescribeClient(
              { stepName: undefined, memoryLimit: 'memoryMb', mayRepeat: false },
              resolve,
            );
            const bundle = { ...BUNDLE, code, hash: `hash_${isolates++}` };
            process.start({ kind: 'describe', limits: LIMITS }, bundle, LIMITS.wallMs, client);
          }),
      ),
    async stop() {
      clearInterval(watch);
      process.end();
      await process.whenExited();
      await starter.stop();
    },
  };
}
