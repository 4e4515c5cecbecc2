import {
  bundleComponent,
  type ComponentBundle,
  type RunHost,
  type Sandbox,
  startSandbox,
} from '@headwater/sandbox-runtime';
import { ACCOUNT_LIMITS, accountLimits } from '@headwater/shared';
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { BenchArguments } from './arguments.ts';
import { createLatencies, type LatencySummary } from './load/latencies.ts';
import { describeMachine } from './machine.ts';
import { startWorkerdLoader } from './peers/workerd.ts';
import { PROJECT_DIR } from './system/boot-system.ts';
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

/**
 * Code of the same size and packages for both: a component of ours, and a worker of workerd. The
 * packages are those of this project.
 */
const LOADED = [
  { name: 'no package', packages: [] },
  { name: 'a common package', packages: ['semver'] },
  { name: 'a bundle of 500 KB', packages: ['semver', 'acorn', 'yaml'] },
] as const;
const COMPONENT = `export default { name: 'loaded', version: '1', run(event) { this.$emit(event.n) } };`;
const WORKER = `export default { fetch() { return new Response('loaded'); } };`;

interface Figures {
  cold: LatencySummary;
  coldWithBuiltins: LatencySummary;
  coldInARow: LatencySummary;
  loaded: { name: string; chars: number; ours: LatencySummary; workerd?: LatencySummary }[];
  warm: LatencySummary;
  isolateBytes: number;
}

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
  const loaded = await loadInTurns(undo, sandbox, options.baselines);
  const warm = await warmCalls(sandbox, plain);
  const isolateBytes = await idleBytes(undo, plain);
  const machine = describeMachine();
  const figures = { cold, coldWithBuiltins, coldInARow, loaded, warm, isolateBytes };
  if (options.json) console.log(JSON.stringify({ machine, ...figures }, undefined, 2));
  else console.log([formatMachine(machine), ...formatFigures(figures)].join('\n'));
  return true;
}

function formatFigures({ cold, coldWithBuiltins, coldInARow, loaded, warm, isolateBytes }: Figures): string[] {
  return [
    line('cold start', formatLatency(cold)),
    line('  using five builtins', formatLatency(coldWithBuiltins)),
    line('  without a spare isolate', formatLatency(coldInARow)),
    ...loaded.flatMap(({ name, chars, ours, workerd }) => [
      line(`  ${name}`, `${formatLatency(ours)}; ${formatCount(chars / 1_000)} KB of code`),
      ...(workerd === undefined ? [] : [line('    workerd', formatLatency(workerd))]),
    ]),
    line('warm call', formatLatency(warm)),
    line('idle isolate', `${(isolateBytes / 1e6).toFixed(1)} MB; ${formatCount(1e9 / isolateBytes)} in 1 GB`),
  ];
}

/** One of ours, one of workerd's, and so on: both see what the machine does meanwhile. */
async function loadInTurns(undo: Undo, sandbox: Sandbox, withWorkerd: boolean): Promise<Figures['loaded']> {
  const loader = withWorkerd ? await startWorkerdLoader(undo) : undefined;
  const rows: Figures['loaded'] = [];
  for (const { name, packages } of LOADED) {
    const code = await inline(packages, COMPONENT);
    const component = await bundle(code);
    const path = `${loader?.url}${encodeURIComponent(name)}`;
    if (loader !== undefined) await answered(path, { method: 'PUT', body: await inline(packages, WORKER) });
    const [ours, workerd] = [createLatencies(), createLatencies()];
    for (let i = 0; i < COLD_STARTS; i++) {
      await setTimeout(PAUSE_MS);
      ours.record(await run(sandbox, component, `dc_${name}${i}:1`, i));
      if (loader !== undefined) workerd.record(await answered(`${path}?${i}`));
    }
    const beside = loader === undefined ? {} : { workerd: workerd.summary() };
    rows.push({ name, chars: code.length, ours: ours.summary(), ...beside });
  }
  return rows;
}

/** The packages and the code in one module. */
async function inline(packages: readonly string[], code: string): Promise<string> {
  const imports = packages.map((name) => `import * as ${name} from '${name}';`);
  const contents = [...imports, `globalThis.used = [${packages.join(', ')}];`, code].join('\n');
  const stdin = { contents, resolveDir: PROJECT_DIR };
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', write: false, platform: 'browser' });
  return outputFiles[0]?.text ?? '';
}

/** Milliseconds from the request to the whole answer. */
async function answered(url: string, init: RequestInit = {}): Promise<number> {
  const startMs = performance.now();
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`workerd answered ${response.status}: ${text.slice(0, 500)}`);
  return performance.now() - startMs;
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
