import {
  bundleComponent,
  type ComponentBundle,
  type RunHost,
  type Sandbox,
  startSandbox,
} from '@headwater/sandbox-runtime';
import { ACCOUNT_LIMITS, accountLimits } from '@headwater/shared';
import { pino } from 'pino';
import type { BenchArguments } from './arguments.ts';
import { EMITTING_SOURCE } from './event-source.ts';
import { createLatencies } from './load/latencies.ts';
import { createRequestTemplate } from './load/request-bytes.ts';
import { describeMachine } from './machine.ts';
import { eventId, ID_CHARS } from './receiver/messages.ts';
import { formatCount, formatLatency, formatMachine, line } from './text.ts';
import type { Undo } from './undo.ts';

const WARM_UP_RUNS = 2_000;
const MAX_RUNS_ALONE = 2_000;

/**
 * Measures runs per second of one component in its warm isolate, through the process boundary and
 * back with the emitted events.
 */
export async function benchRun(undo: Undo, options: BenchArguments): Promise<boolean> {
  const log = pino({ level: 'warn' });
  const sandbox = await startSandbox({ log: (level, message, fields) => log[level](fields, message) });
  undo.push(() => sandbox.stop());
  const outcome = await bundleComponent(EMITTING_SOURCE);
  if (!outcome.ok) throw new Error(`The component cannot be bundled: ${JSON.stringify(outcome.errors)}`);
  const run = createRunner(sandbox, outcome.bundle, options.bodyBytes);
  await repeat(run, WARM_UP_RUNS, options.connections);
  const together = await repeat(run, options.events, options.connections);
  const alone = await repeat(run, Math.min(options.events, MAX_RUNS_ALONE), 1);
  const machine = describeMachine();
  if (options.json) {
    console.log(JSON.stringify({ machine, options, together, alone }, undefined, 2));
  } else {
    console.log(formatMachine(machine));
    console.log(`run: ${formatCount(options.events)} runs, ${options.connections} in flight`);
    console.log(line('runs/s', formatCount(together.perSecond)));
    console.log(line('a run among them', formatLatency(together.latency)));
    console.log(line('a run alone', formatLatency(alone.latency)));
  }
  return true;
}

/** Rejects when a run fails or does not emit its input. */
function createRunner(sandbox: Sandbox, bundle: ComponentBundle, bodyBytes: number): (index: number) => Promise<void> {
  const account = accountLimits();
  const template = createRequestTemplate('http://127.0.0.1:1/', bodyBytes, ID_CHARS);
  return async (index) => {
    const body = template.body(eventId('r', index));
    let emitted = '';
    const host: RunHost = {
      emit: (event) => void (emitted = event.data),
      log: () => undefined,
      respond: () => undefined,
      dbSet: () => undefined,
      dbGet: () => Promise.resolve(undefined),
      dataStore: () => Promise.resolve({ ok: false, message: 'There is no store here' }),
      fetch: () => Promise.resolve({ ok: false, message: 'The bench has no network' }),
    };
    const headers = { 'content-type': 'application/json', host: 'bench' };
    const event = { method: 'POST', path: '/', query: {}, headers, bodyRaw: body, body: JSON.parse(body) as unknown };
    const outcome = await sandbox.run(
      {
        tenantId: 'o_bench',
        isolateKey: 'dc_bench:1',
        runId: `run_${index}`,
        bundle,
        entry: { kind: 'run', event: JSON.stringify(event) },
        props: { http: { kind: 'http', endpoint: 'http://bench/' } },
        limits: {
          cpuMs: ACCOUNT_LIMITS.runCpuMs.default,
          wallMs: ACCOUNT_LIMITS.httpRunWallMs.default,
          wallLimit: 'httpRunWallMs',
          memoryMb: ACCOUNT_LIMITS.memoryMb.default,
          account,
        },
        alone: false,
      },
      host,
    );
    if (!outcome.ok) throw new Error(`Run ${index} failed: ${outcome.fault.message}`);
    if (emitted !== body) throw new Error(`Run ${index} emitted ${emitted}`);
  };
}

async function repeat(run: (index: number) => Promise<void>, runs: number, inFlight: number) {
  const latencies = createLatencies();
  let next = 0;
  const beganMs = performance.now();
  const keepRunning = async () => {
    while (next < runs) {
      const startMs = performance.now();
      await run(next++);
      latencies.record(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, keepRunning));
  return { perSecond: (runs / (performance.now() - beganMs)) * 1_000, latency: latencies.summary() };
}
