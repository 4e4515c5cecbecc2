import {
  bundleComponent,
  type ComponentBundle,
  type RunHost,
  type Sandbox,
  startSandbox,
} from '@headwater/sandbox-runtime';
import { ACCOUNT_LIMITS, accountLimits } from '@headwater/shared';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { BenchArguments } from './arguments.ts';
import { createLatencies, type LatencySummary } from './load/latencies.ts';
import { describeMachine } from './machine.ts';
import { listProcessTree } from './system/process-tree.ts';
import { formatCount, formatLatency, formatMachine, line } from './text.ts';
import type { Undo } from './undo.ts';

const COLD_STARTS = 60;
const WARM_CALLS = 2_000;
const IDLE_ISOLATES = 60;
/** Longer than a process takes to boot its next spare isolate. */
const PAUSE_MS = 80;
/** Until memory that was used on the way has been given back. */
const SETTLE_MS = 2_500;
const PAGE_BYTES = 4_096;
const ROOMY = { maxIsolates: 4 * COLD_STARTS, maxWarmHeapMb: 8_192, maxRssMb: 16_384 };

const PLAIN = `export default { name: 'plain', version: '1', run(event) { this.$emit(event.n) } };`;
const WITH_BUILTINS = `
  import { createHmac } from 'node:crypto';
  import fs from 'node:fs';
  import https from 'node:https';
  import { pipeline } from 'node:stream/promises';
  import { gzipSync } from 'node:zlib';
  export default { name: 'builtins', version: '1', run(event) {
    fs.writeFileSync('/tmp/x', gzipSync(createHmac('sha256', 'k').update(String(event.n)).digest()));
    this.$emit(typeof https.request + typeof pipeline);
  } };`;

/** Measures an isolate: cold start to first answer, warm run, and memory while idle. Linux only. */
export async function benchIsolate(undo: Undo, options: BenchArguments): Promise<boolean> {
  const sandbox = await startSandbox(ROOMY);
  undo.push(() => sandbox.stop());
  const [plain, withBuiltins] = await Promise.all([bundle(PLAIN), bundle(WITH_BUILTINS)]);
  // The process is there already: what starts cold is the component.
  for (let i = 0; i < 5; i++) await run(sandbox, plain, 'dc_warm:1', i);
  const cold = await coldStarts(sandbox, plain, 'plain', PAUSE_MS);
  const coldWithBuiltins = await coldStarts(sandbox, withBuiltins, 'builtins', PAUSE_MS);
  const coldInARow = await coldStarts(sandbox, plain, 'row', 0);
  const warm = await warmCalls(sandbox, plain);
  const isolateBytes = await idleBytes(undo, plain);
  const machine = describeMachine();
  if (options.json) {
    console.log(JSON.stringify({ machine, cold, coldWithBuiltins, coldInARow, warm, isolateBytes }, undefined, 2));
    return true;
  }
  console.log(formatMachine(machine));
  console.log(line('cold start', formatLatency(cold)));
  console.log(line('  using five builtins', formatLatency(coldWithBuiltins)));
  console.log(line('  without a spare isolate', formatLatency(coldInARow)));
  console.log(line('warm call', formatLatency(warm)));
  console.log(
    line('idle isolate', `${(isolateBytes / 1e6).toFixed(1)} MB; ${formatCount(1e9 / isolateBytes)} in 1 GB`),
  );
  return true;
}

async function bundle(code: string): Promise<ComponentBundle> {
  const outcome = await bundleComponent(code);
  if (!outcome.ok) throw new Error(`The component cannot be bundled: ${JSON.stringify(outcome.errors)}`);
  return outcome.bundle;
}

async function coldStarts(
  sandbox: Sandbox,
  component: ComponentBundle,
  name: string,
  pauseMs: number,
): Promise<LatencySummary> {
  const latencies = createLatencies();
  for (let i = 0; i < COLD_STARTS; i++) {
    await setTimeout(pauseMs);
    latencies.record(await run(sandbox, component, `dc_${name}${i}:1`, i));
  }
  return latencies.summary();
}

async function warmCalls(sandbox: Sandbox, component: ComponentBundle): Promise<LatencySummary> {
  const latencies = createLatencies();
  for (let i = 0; i < WARM_CALLS; i++) latencies.record(await run(sandbox, component, 'dc_warm:1', i));
  return latencies.summary();
}

/**
 * Resident memory that the process gains with each isolate, in a process of its own that has few to
 * begin with.
 */
async function idleBytes(undo: Undo, component: ComponentBundle): Promise<number> {
  const sandbox = await startSandbox({ ...ROOMY, blankProcesses: 0 });
  undo.push(() => sandbox.stop());
  for (let i = 0; i < 3; i++) await run(sandbox, component, `dc_first${i}:1`, i);
  await setTimeout(SETTLE_MS);
  const before = residentBytes();
  for (let i = 0; i < IDLE_ISOLATES; i++) await run(sandbox, component, `dc_idle${i}:1`, i);
  await setTimeout(SETTLE_MS);
  return (residentBytes() - before) / IDLE_ISOLATES;
}

/** Memory of all sandbox processes below this one. */
function residentBytes(): number {
  const pids = listProcessTree(process.pid).filter(({ command }) => command.includes('hw-sandbox'));
  return pids.reduce(
    (sum, { pid }) => sum + Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES,
    0,
  );
}

/** Milliseconds from the call to the outcome. */
async function run(sandbox: Sandbox, component: ComponentBundle, isolateKey: string, n: number): Promise<number> {
  let emitted = 0;
  const host: RunHost = {
    emit: () => void (emitted += 1),
    log: () => undefined,
    respond: () => undefined,
    dbSet: () => undefined,
    dbGet: () => Promise.resolve(undefined),
    dataStore: () => Promise.resolve({ ok: false, message: 'There is no store here' }),
    fetch: () => Promise.resolve({ ok: false, message: 'The bench has no network' }),
  };
  const startMs = performance.now();
  const outcome = await sandbox.run(
    {
      tenantId: 'o_bench',
      isolateKey,
      runId: `run_${n}`,
      bundle: component,
      entry: { kind: 'run', event: JSON.stringify({ n }) },
      props: {},
      limits: {
        cpuMs: ACCOUNT_LIMITS.runCpuMs.default,
        wallMs: ACCOUNT_LIMITS.httpRunWallMs.default,
        wallLimit: 'httpRunWallMs',
        memoryMb: ACCOUNT_LIMITS.memoryMb.default,
        account: accountLimits(),
      },
      alone: false,
    },
    host,
  );
  const tookMs = performance.now() - startMs;
  if (!outcome.ok || emitted !== 1) throw new Error(`A run failed: ${JSON.stringify(outcome)}`);
  return tookMs;
}
