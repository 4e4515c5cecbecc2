import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { accountLimits, LIMITS, type LogLine, type ReadPacer } from '@headwater/shared';
import { DescribeClient } from '../../sandbox-runtime/src/pool/describe-client.ts';
import { RunClient } from '../../sandbox-runtime/src/pool/run-client.ts';
import { SandboxProcess } from '../../sandbox-runtime/src/pool/sandbox-process.ts';
import { FrameWriter } from '../../sandbox-runtime/src/bridge/frames.ts';
import { sendToHost } from '../../sandbox-runtime/src/bridge/frames-to-host.ts';
import { pickGuestLimits } from '../../sandbox-runtime/src/bridge/guest-limits.ts';
import type { StepHost } from '../../sandbox-runtime/src/sandbox.ts';
import type { DataStoreCall, RunEntry, RunOutcome } from '../../sandbox-runtime/src/sandbox-types.ts';
import { fakeProcess } from '../support/fake-process.ts';
import { eventually } from '../support/eventually.ts';
import { forgedWrites } from '../support/forged-frames.ts';
import { longRun } from '../support/long-run.ts';
import { slowness } from '../support/longest-turn.ts';
import { fc } from '../support/properties.ts';
import { type RecordingHost, recordingHost } from '../support/run-host.ts';

/** The node's side of a sandbox process is real; its messages are forged, and no process exists. */

const account = accountLimits({
  maxEmitsPerRun: 500,
  maxLogLinesPerRun: 100,
  maxFetchesPerRun: 50,
  maxFetchesInFlightPerRun: 4,
});
const limits = { cpuMs: 1_000, wallMs: 5_000, wallLimit: 'httpRunWallMs' as const, memoryMb: 32 };
const bundle = { code: '', hash: 'hash', sourceMap: '' };
/** Larger than any that a system gives. */
const NO_PID = 2 ** 30;

interface Heard {
  host: RecordingHost;
  step: unknown[];
  stores: DataStoreCall[];
  open: number;
  mostOpen: number;
  ends: RunOutcome[];
}

interface World {
  write(piece: Buffer): void;
  process: SandboxProcess;
  runs: Heard[];
  described: unknown[];
  problems: string[];
  kills: number;
}

async function open(pace?: ReadPacer): Promise<World> {
  const pipe = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const problems: string[] = [];
  let begin: (() => void) | undefined;
  const world = {
    write: (piece: Buffer) => void pipe.emit('data', piece),
    runs: [],
    described: [],
    problems,
    kills: 0,
  } as unknown as World;
  world.process = new SandboxProcess({
    settings: { limits: pickGuestLimits(account), maxIsolates: 1, maxWarmHeapMb: 64, spareMemoryMb: 32 },
    ...fakeProcess((_order, events) => {
      begin = () => events.started(NO_PID, pipe as never);
      return { kill: () => void (world.kills += 1) };
    }),
    maxRssMb: 512,
    ...(pace && { pace }),
    log: (_level, message, fields) => void problems.push(`${message}: ${JSON.stringify(fields)}`),
    onFree: () => undefined,
    onExit: () => undefined,
  });
  begin?.();
  const writer = new FrameWriter((bytes) => world.write(Buffer.from(bytes)));
  sendToHost(writer, { kind: 'ready', snapshot: undefined });
  await world.process.ready;
  const input = { context: '{}', steps: {}, event: '{}' };
  const entries: RunEntry[] = [
    { kind: 'run', event: '{}' },
    { kind: 'step', input } as unknown as RunEntry,
    { kind: 'options', prop: 'a', configured: {}, context: {} } as unknown as RunEntry,
    { kind: 'additional-props', previousPropDefs: '{}' },
  ];
  for (const entry of entries) startRun(world, entry);
  const client = new DescribeClient(
    { stepName: undefined, memoryLimit: 'describeMemoryMb', mayRepeat: false },
    (outcome) => void world.described.push(outcome),
  );
  world.process.start({ kind: 'describe', limits }, bundle, limits.wallMs, client);
  return world;
}

function startRun({ process, runs }: World, entry: RunEntry): void {
  const heard: Heard = { host: recordingHost(), step: [], stores: [], open: 0, mostOpen: 0, ends: [] };
  runs.push(heard);
  const note = (...said: unknown[]) => void heard.step.push(said);
  const step: StepHost = { export: note, send: note, flow: note, respond: note, props: note };
  const host = recordingHost({
    fetch: (_request, signal) => {
      heard.mostOpen = Math.max(heard.mostOpen, ++heard.open);
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          heard.open -= 1;
          resolve({ ok: false, message: 'aborted' });
        });
      });
    },
    dataStore: (call) => {
      heard.stores.push(call);
      return Promise.resolve({ ok: true });
    },
  });
  heard.host = Object.assign(host, { step });
  const props = { ds: { kind: 'data-store', id: 'ds_a' } } as const;
  const request = {
    tenantId: 'o_a',
    isolateKey: 'dc_a:1',
    runId: 'inv_a',
    bundle,
    entry,
    props,
    alone: false,
    limits: { ...limits, account },
  };
  const client = new RunClient(request, heard.host, (outcome) => void heard.ends.push(outcome));
  process.setLimits(account);
  process.start(
    { kind: 'run', isolateKey: 'dc_a:1', entry: 'run', limits, props: '{}', event: '{}' },
    bundle,
    limits.wallMs,
    client,
  );
}

function expectWithinLimits({ host, step, stores, mostOpen, ends }: Heard): void {
  expect(host.events.length).toBeLessThanOrEqual(account.maxEmitsPerRun);
  expect(host.logs.length).toBeLessThanOrEqual(account.maxLogLinesPerRun + 1);
  expect(host.responses.length).toBeLessThanOrEqual(1);
  expect(host.requests.length).toBeLessThanOrEqual(account.maxFetchesPerRun);
  for (const { message, limit } of host.logs) {
    expect(message.length).toBeLessThanOrEqual(account.maxLogLineBytes);
    expect(limit?.value).toBe(limit && account[limit.name]);
  }
  expect(mostOpen).toBeLessThanOrEqual(account.maxFetchesInFlightPerRun);
  expect(stores.every(({ storeId }) => storeId === 'ds_a')).toBe(true);
  const texts = [
    ...host.events.map(({ data }) => data),
    ...host.writes.flat(),
    ...host.messages(),
    ...step.flat(2).filter((text) => typeof text === 'string'),
  ];
  expect(texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(account.maxRunOutputBytes);
  for (const { ts, emittedAtMs, id, name, summary } of host.events) {
    expect([ts ?? 0, emittedAtMs].every((ms) => Number.isInteger(new Date(ms).getTime()))).toBe(true);
    expect(String(id ?? '').length).toBeLessThanOrEqual(LIMITS.maxEventIdChars);
    expect((name ?? '').length + (summary ?? '').length).toBeLessThanOrEqual(
      LIMITS.maxChannelChars + LIMITS.maxSummaryChars,
    );
  }
  expect(ends).toHaveLength(1);
}

/**
 * Allowance for any turn, and per byte. Bytes of heads are the most expensive, because they are
 * parsed.
 */
const MAX_TURN_MS = 60;
const RUNS = longRun(150, 400);
const MAX_MS_PER_BYTE = 0.001;

test('after any bytes of a process the node goes on, keeps to the limits, and ends every run once', async () => {
  const slow = slowness();
  let broken = 0;
  await fc.assert(
    fc.asyncProperty(forgedWrites, async (pieces) => {
      const world = await open();
      const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
      const before = process.threadCpuUsage();
      for (const piece of pieces) world.write(piece);
      const { user, system } = process.threadCpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan((MAX_TURN_MS + bytes * MAX_MS_PER_BYTE) * slow);
      await new Promise((resolve) => setImmediate(resolve));
      const isBroken = world.problems.some((problem) => problem.includes('broke the protocol'));
      if (isBroken) broken += 1;
      // The runs that the kill took along are told as well.
      const told = isBroken ? /broke the protocol|A sandbox process was killed/ : /broke the protocol/;
      expect(world.problems.filter((problem) => !told.test(problem))).toEqual([]);
      expect(world.kills > 0 || !isBroken).toBe(true);
      world.process.end();
      // The return value of a step may be long, so it is read in turns.
      await eventually(() => world.runs.every(({ ends }) => ends.length > 0), { everyMs: 1, what: 'all runs to end' });
      for (const run of world.runs) expectWithinLimits(run);
      expect(world.described).toHaveLength(1);
      expect(world.process.inFlight).toBe(0);
    }),
    { numRuns: RUNS },
  );
  // Most are no words of a process; some get as far as the limits.
  expect(broken).toBeGreaterThan(RUNS / 4);
  expect(broken).toBeLessThan(RUNS);
});

const LIMIT = { name: 'maxLogLineBytes', value: account.maxLogLineBytes, used: account.maxLogLineBytes + 1 } as const;
const invented: [title: string, limit: NonNullable<LogLine['limit']>][] = [
  ['a value that its account does not have', { ...LIMIT, value: 1 }],
  ['no more used than it allows', { ...LIMIT, used: LIMIT.value }],
];
test.each(invented)('a log line that names a limit with %s ends the process', async (_title, limit) => {
  const world = await open();
  const writer = new FrameWriter((bytes) => world.write(Buffer.from(bytes)));
  const line = { level: 'warn', atMs: 5, message: 'cut' } as const;
  sendToHost(writer, { kind: 'log', run: 1, line: { ...line, limit: LIMIT } });
  sendToHost(writer, { kind: 'log', run: 1, line: { ...line, limit } });
  await eventually(() => world.kills > 0, { everyMs: 1, what: 'its end' });
  expect(world.runs[0]?.host.logs).toEqual([{ ...line, limit: LIMIT }]);
  expect(world.problems[0]).toContain('broke the protocol');
});

test('the time that the node delays reading extends the deadline of a process within bounds', async () => {
  const world = await open({ waitMs: (_tenant, bytes) => bytes });
  world.process.tenantId = 'o_a';
  const killedAfter = (ms: number) => {
    world.process.check(performance.now() + ms);
    return world.kills > 0;
  };
  // Four bytes of a frame that never ends, and 4.9 s without reading.
  world.write(Buffer.concat([Buffer.from([255, 255, 0, 0]), Buffer.alloc(4_900)]));
  expect([killedAfter(6_500), killedAfter(10_800), killedAfter(11_500)]).toEqual([false, false, true]);
});
