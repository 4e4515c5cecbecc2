import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { accountLimits } from '../../shared/src/index.ts';
import { pickGuestLimits } from '../../sandbox-runtime/src/bridge/guest-limits.ts';
import { RunClient } from '../../sandbox-runtime/src/pool/run-client.ts';
import { SandboxProcess } from '../../sandbox-runtime/src/pool/sandbox-process.ts';
import { createStarter, type ProcessStarter } from '../../sandbox-runtime/src/starter/starter.ts';
import type { RunOutcome, RunRequest } from '../../sandbox-runtime/src/sandbox-types.ts';
import { ALL_RIGHTS } from './process-rights.ts';
import { type RecordingHost, recordingHost } from './run-host.ts';

/**
 * A sandbox process that code of a tenant has taken over: the node's side is the real one, what
 * runs in the process is the attacker's script behind this. It defines `attack()`, called for each
 * task, or `heard(kind, run, parts)`, called for each frame. Frames:
 * sandbox-runtime/src/bridge/frames.ts.
 */
export const PRELUDE = `
const channel = new (require('node:net').Socket)({ fd: 3 });
const number = (value, bytes) => { const b = Buffer.alloc(bytes); b.writeUIntLE(value, 0, bytes); return b; };
const frame = (kind, run, ...parts) => {
  const bodies = parts.map((part) => Buffer.from(part));
  const head = [number(kind, 1), number(parts.length, 1), number(run, 4), ...bodies.map((body) => number(body.length, 4))];
  const all = Buffer.concat([...head, ...bodies]);
  return Buffer.concat([number(all.length, 4), all]);
};
const send = (...args) => channel.write(frame(...args));
const READY = 1, EMIT = 2, LOG = 3, RESPOND = 4, DB_SET = 5, DB_GET = 6, FETCH = 7, FETCH_ABORT = 8, OUTCOME = 9, DESCRIBED = 10, PONG = 11, CONDEMNED = 12, DATA_STORE = 13, STEP_EXPORT = 14, STEP_SEND = 15, STEP_FLOW = 16, STEP_RESPOND = 17;
const META = JSON.stringify({ emittedAtMs: 1 });
channel.on('error', () => {});
// In whatever pieces: with a piece of what comes before a run, its node knows of no run yet.
const START = 1, RUN = 4, DESCRIBE = 5, DB_VALUE = 6, PING = 8;
const partsOf = (bytes) => {
  let at = 6 + 4 * bytes.readUInt8(1);
  const lengths = Array.from({ length: bytes.readUInt8(1) }, (_, i) => bytes.readUInt32LE(6 + 4 * i));
  return lengths.map((length) => bytes.subarray(at, (at += length)));
};
const take = (kind, run, parts) => {
  if (kind === START) send(READY, 0);
  if (typeof heard === 'function') heard(kind, run, parts);
  else if (kind === RUN || kind === DESCRIBE) attack();
};
let unread = Buffer.alloc(0);
channel.on('data', (piece) => {
  unread = Buffer.concat([unread, piece]);
  while (unread.length >= 4 && unread.length >= 4 + unread.readUInt32LE(0)) {
    const bytes = unread.subarray(4, 4 + unread.readUInt32LE(0));
    unread = unread.subarray(4 + bytes.length);
    take(bytes.readUInt8(0), bytes.readUInt32LE(2), partsOf(bytes));
  }
});
`;

/** Each run reads a value from its store, emits it and ends. */
const HONEST = `function heard(kind, run, parts) {
  if (kind === PING) send(PONG, 0);
  if (kind === RUN) send(DB_GET, run, '1', 'word');
  if (kind === DB_VALUE) { send(EMIT, run, parts[1].subarray(1), META); send(OUTCOME, run, '[1,1]'); }
}`;
const WORD = '"honest"';

export interface ForgedRun {
  outcome: RunOutcome;
  host: RecordingHost;
  /** Outcome of another tenant's run, which began after the attack in another process. */
  other: RunOutcome;
  otherData: unknown[];
  problems: string[];
}

/** Task of the forged process. Default: `run`, without props. */
type Asked = Partial<Pick<RunRequest, 'entry' | 'props' | 'tenantId'>> & { wallMs?: number };

/** The node detects a forged process at once, but on a full machine some seconds later. */
const DEFAULT_WALL_MS = 15_000;
/** One honest run lasts as long as the attack does, which ends with its own limit at the latest. */
const NEIGHBOUR_WALL_MS = 10 * DEFAULT_WALL_MS;
const NEIGHBOUR_PAUSE_MS = 20;
const CHECK_MS = 100;

/**
 * Gives a run to a process whose script defines `attack()`, while an honest process of the same
 * node serves another tenant: runs that end before the attack, one that is open all the while,
 * those that begin during it, and one after it. Expects that each ended well with what it put out
 * itself, and that nothing was said of their process.
 */
export async function runInForgedProcess(
  script: string,
  asked: Asked = {},
  host = recordingHost(),
): Promise<ForgedRun> {
  const problems: string[] = [];
  const starter = await createStarter();
  const neighbour = startNeighbour(starter);
  try {
    await neighbour.begin();
    const forged = await runIn(starter, script, problems, asked, host);
    const { outcome, data } = await neighbour.expectServed();
    return { ...forged, other: outcome, otherData: data, problems };
  } finally {
    await neighbour.stop();
    await starter.stop();
  }
}

interface HonestRun {
  outcome: RunOutcome;
  data: unknown[];
}

function startNeighbour(starter: ProcessStarter) {
  const problems: string[] = [];
  const process = startProcess(starter, `${PRELUDE}${HONEST}`, problems);
  const watch = setInterval(() => process.check(performance.now()), CHECK_MS);
  const served: HonestRun[] = [];
  const isAttackOver = Promise.withResolvers<void>();
  let rest = Promise.resolve();

  /** `answer` is called when the run reads what it is to emit. */
  async function serve(answer: () => Promise<string> = () => Promise.resolve(WORD)): Promise<HonestRun> {
    // One that is given to a process which has ended would never end.
    if (process.exited) throw new Error(`The process of the other tenant has ended: ${problems.join()}`);
    const host = { ...recordingHost(), dbGet: answer };
    const outcome = await runTask(process, host, { tenantId: 'o_b', wallMs: NEIGHBOUR_WALL_MS });
    return { outcome, data: host.data() };
  }

  async function serveUntilOver(): Promise<void> {
    let isOver = false;
    void isAttackOver.promise.then(() => (isOver = true));
    while (!isOver) {
      served.push(await serve());
      await Promise.race([isAttackOver.promise, sleep(NEIGHBOUR_PAUSE_MS)]);
    }
  }

  return {
    /** Resolves when a run has ended and the one is open that ends after the attack. */
    async begin(): Promise<void> {
      await process.ready;
      served.push(await serve());
      const isOpen = Promise.withResolvers<void>();
      const open = serve(async () => {
        isOpen.resolve();
        await isAttackOver.promise;
        return WORD;
      }).then((run) => void served.push(run));
      await Promise.race([isOpen.promise, open]);
      rest = Promise.all([open, serveUntilOver()]).then(() => undefined);
      // It is awaited when the attack is over.
      rest.catch(() => undefined);
    },
    /** Answers the run after the attack. */
    async expectServed(): Promise<HonestRun> {
      isAttackOver.resolve();
      await rest;
      const last = await serve();
      for (const { outcome, data } of [...served, last]) {
        expect({ outcome, data }).toMatchObject({ outcome: { ok: true }, data: [JSON.parse(WORD)] });
      }
      // The one before, the one that was open, and those beside it.
      expect(served.length).toBeGreaterThan(2);
      expect(problems).toEqual([]);
      return last;
    },
    async stop(): Promise<void> {
      isAttackOver.resolve();
      clearInterval(watch);
      process.end();
      await process.whenExited();
    },
  };
}

/**
 * The same, and the process is left alone after the run's end: answers what was said of it when it
 * is gone, at the latest after `withinMs`.
 */
export async function outliveForgedRun(script: string, maxRssMb: number, withinMs: number): Promise<string[]> {
  const problems: string[] = [];
  const starter = await createStarter();
  const process = startProcess(starter, `${PRELUDE}${script}`, problems, maxRssMb);
  const watch = setInterval(() => process.check(performance.now()), CHECK_MS);
  try {
    await process.ready;
    await runTask(process, recordingHost(), {});
    await Promise.race([process.whenExited(), sleep(withinMs, undefined, { ref: false })]);
    return process.exited ? ['ended', ...problems] : ['still there', ...problems];
  } finally {
    clearInterval(watch);
    process.end();
    await process.whenExited();
    await starter.stop();
  }
}

async function runIn(
  starter: ProcessStarter,
  script: string,
  problems: string[],
  asked: Asked,
  host: RecordingHost,
): Promise<{ outcome: RunOutcome; host: RecordingHost }> {
  const process = startProcess(starter, `${PRELUDE}${script}`, problems);
  const watch = setInterval(() => process.check(performance.now()), CHECK_MS);
  try {
    await process.ready;
    return { outcome: await runTask(process, host, asked), host };
  } finally {
    clearInterval(watch);
    process.end();
    await process.whenExited();
  }
}

function startProcess(
  starter: ProcessStarter,
  processCode: string,
  problems: string[],
  maxRssMb = 512,
): SandboxProcess {
  return new SandboxProcess({
    settings: { limits: pickGuestLimits(accountLimits()), maxIsolates: 1, maxWarmHeapMb: 64, spareMemoryMb: 32 },
    processCode,
    starter,
    launch: () => ({
      program: process.execPath,
      args: ['-'],
      files: [],
      rights: ALL_RIGHTS,
      started: () => Promise.resolve(),
      ranOutOfMemory: () => false,
      ended: () => undefined,
    }),
    guest: { code: '', snapshot: undefined },
    maxRssMb,
    log: (_level, message, fields) => void problems.push(`${message}: ${JSON.stringify(fields)}`),
    onFree: () => undefined,
    onExit: () => undefined,
  });
}

function runTask(
  process: SandboxProcess,
  host: RecordingHost,
  { wallMs = DEFAULT_WALL_MS, ...asked }: Asked,
): Promise<RunOutcome> {
  const bundle = { code: '', hash: 'hash', sourceMap: '' };
  const limits = { cpuMs: 1_000, wallMs, wallLimit: 'httpRunWallMs' as const, memoryMb: 32 };
  const account = accountLimits();
  return new Promise((resolve) => {
    const client = new RunClient(
      {
        tenantId: 'o_a',
        isolateKey: 'dc_a:1',
        runId: 'inv_a',
        bundle,
        entry: { kind: 'run', event: '{}' },
        props: {},
        limits: { ...limits, account },
        alone: false,
        ...asked,
      },
      host,
      resolve,
    );
    process.setLimits(account);
    process.start(
      { kind: 'run', isolateKey: 'dc_a:1', entry: 'run', limits, props: '{}', event: '{}' },
      bundle,
      wallMs,
      client,
    );
  });
}
