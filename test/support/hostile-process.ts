import { setTimeout as sleep } from 'node:timers/promises';
import { accountLimits } from '../../shared/src/index.ts';
import { pickGuestLimits } from '../../sandbox-runtime/src/protocol/guest-limits.ts';
import { RunClient } from '../../sandbox-runtime/src/host/run-client.ts';
import { SandboxProcess } from '../../sandbox-runtime/src/host/sandbox-process.ts';
import { createStarter, type ProcessStarter } from '../../sandbox-runtime/src/host/starter/starter.ts';
import type { RunOutcome, RunRequest } from '../../sandbox-runtime/src/sandbox.ts';
import { type RecordingHost, recordingHost } from './run-host.ts';

/*
 * A sandbox process that code of a tenant has taken over: the node's side is the real one, what runs in the process is the
 * attacker's script. Frames: sandbox-runtime/src/protocol/frames.ts.
 */
const PRELUDE = `
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
// Whatever pieces they come in: with a piece of what comes before a run, its node knows of no run yet.
const START = 1, RUN = 4, DESCRIBE = 5;
let unread = Buffer.alloc(0);
channel.on('data', (piece) => {
  unread = Buffer.concat([unread, piece]);
  while (unread.length >= 4 && unread.length >= 4 + unread.readUInt32LE(0)) {
    const kind = unread.readUInt8(4);
    unread = unread.subarray(4 + unread.readUInt32LE(0));
    if (kind === START) send(READY, 0);
    if (kind === RUN || kind === DESCRIBE) attack();
  }
});
`;

const HONEST = `function attack() { send(EMIT, 1, '"honest"', META); send(OUTCOME, 1, '[1,1]'); }`;

export interface ForgedRun {
  outcome: RunOutcome;
  host: RecordingHost;
  /** Of a run in another process, of another tenant, that ended after it. */
  other: RunOutcome;
  otherData: unknown[];
  problems: string[];
}

/** What the forged process is asked to do. Default: `run`, without props. */
type Asked = Partial<Pick<RunRequest, 'entry' | 'props'>> & { wallMs?: number };

/** What a forged process does wrong is noticed at once, on a full machine some seconds later. */
const DEFAULT_WALL_MS = 15_000;

/** Gives a run to a process whose script defines `attack()`, and then one to an honest process of the same node. */
export async function runInForgedProcess(
  script: string,
  asked: Asked = {},
  host = recordingHost(),
): Promise<ForgedRun> {
  const problems: string[] = [];
  const starter = await createStarter();
  try {
    const forged = await runIn(starter, script, problems, asked, host);
    const honest = await runIn(starter, HONEST, [], {}, recordingHost());
    return { ...forged, other: honest.outcome, otherData: honest.host.data(), problems };
  } finally {
    await starter.stop();
  }
}

/** The same, and the process is left alone after the run's end: answers what was said of it when it is gone, at the latest after `withinMs`. */
export async function outliveForgedRun(script: string, maxRssMb: number, withinMs: number): Promise<string[]> {
  const problems: string[] = [];
  const starter = await createStarter();
  const process = startProcess(starter, `${PRELUDE}${script}`, problems, maxRssMb);
  const watch = setInterval(() => process.check(performance.now()), 100);
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
  const watch = setInterval(() => process.check(performance.now()), 100);
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
