import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeadwaterError } from '@headwater/shared';
import type { BuildOutcome } from './build-outcome.ts';
import { makeBundle } from './bundle-component.ts';
import type { BuilderScript } from './bundle-builder.ts';
import { BUILD_FILES, type BuildOrder, type BuildResult } from './packages/build-order.ts';

export interface BuildProcessOptions {
  script: BuilderScript;
  order: BuildOrder;
  /** All of the environment that the process gets. */
  environment: Readonly<Record<string, string>>;
  signal: AbortSignal;
  log(level: 'info' | 'warn', message: string, fields: Record<string, unknown>): void;
}

const HEAP_MB = 1_024;
const MAX_STDERR_CHARS = 4_096;
const MAX_RESULT_BYTES = 1024 * 1024;
/** Beyond its own time limit, which names the reason, a process has this long before it is killed. */
const GRACE_MS = 1_000;

/** Does one build in a process and a folder of its own, both gone when this settles. Throws UNAVAILABLE when it is cut off. */
export async function runBuildProcess(options: BuildProcessOptions): Promise<BuildOutcome> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'headwater-build-')));
  try {
    await writeFile(join(dir, BUILD_FILES.order), JSON.stringify(options.order));
    const end = await waitForEnd(startProcess(options, dir), options);
    const result = await readResult(dir);
    if (result !== undefined) return await toOutcome(result, dir, options.order);
    if (end.cause === 'time') return timedOut(options.order);
    if (end.cause === 'stop') throw new HeadwaterError('UNAVAILABLE', 'The build was ended because this node stops');
    options.log('warn', 'A build process ended without a result', { ...end });
    const message = 'The packages could not be bundled: the build ended unexpectedly';
    return { ok: false, errors: [{ path: 'component_code', message }] };
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

function startProcess({ script, order, environment }: BuildProcessOptions, dir: string): ChildProcess {
  const folders = [join(dir, '*'), join(order.cacheDir, '*')];
  const args = [
    '--permission',
    // For the bundler's own program.
    '--allow-child-process',
    ...[...script.readable, ...folders].map((path) => `--allow-fs-read=${path}`),
    ...folders.map((path) => `--allow-fs-write=${path}`),
    '--no-warnings',
    `--max-old-space-size=${HEAP_MB}`,
    '--title=hw-build',
    '--input-type=module',
    '-',
    dir,
  ];
  const child = spawn(process.execPath, args, {
    cwd: dir,
    env: { ...environment, NODE_USE_ENV_PROXY: '1' },
    // A group of its own, so that the bundler's program can be ended with it.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  // A process that ends at once closes its input before it is written; its exit is what counts.
  child.stdin?.on('error', () => undefined).end(script.code);
  return child;
}

interface End {
  cause: 'exit' | 'time' | 'stop';
  code: number | null;
  stderr: string;
}

async function waitForEnd(child: ChildProcess, { order, signal }: BuildProcessOptions): Promise<End> {
  let cause: End['cause'] = 'exit';
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_STDERR_CHARS) stderr += text.slice(0, MAX_STDERR_CHARS);
  });
  const end = (why: End['cause']): void => {
    cause = why;
    killGroup(child);
  };
  const onAbort = (): void => end('stop');
  const timer = setTimeout(() => end('time'), order.limits.buildMs + GRACE_MS);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return { cause, code, stderr };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    // What the process started may outlive it.
    killGroup(child);
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody is left in the group.
  }
}

async function toOutcome(result: BuildResult, dir: string, order: BuildOrder): Promise<BuildOutcome> {
  if (!result.ok) return { ok: false, errors: result.errors };
  const { maxBundleBytes } = order.limits;
  const code = await readCapped(join(dir, BUILD_FILES.bundle), maxBundleBytes);
  const sourceMap = await readCapped(join(dir, BUILD_FILES.sourceMap), maxBundleBytes);
  if (code === undefined || sourceMap === undefined) throw new Error('A build process left no bundle');
  return { ok: true, bundle: makeBundle(code, sourceMap), dependencies: result.dependencies };
}

async function readResult(dir: string): Promise<BuildResult | undefined> {
  const text = await readCapped(join(dir, BUILD_FILES.result), MAX_RESULT_BYTES);
  return text === undefined ? undefined : (JSON.parse(text) as BuildResult);
}

async function readCapped(path: string, maxBytes: number): Promise<string | undefined> {
  // Not there: the process ended before it wrote it.
  const handle = await open(path, 'r').catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    return size > maxBytes ? undefined : await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

function timedOut({ packages, limits }: BuildOrder): BuildOutcome {
  const names = packages.map((name) => `"${name}"`).join(', ');
  const message = `Cannot resolve ${names}: fetching and bundling took longer than ${limits.buildMs / 1000} s`;
  return { ok: false, errors: [{ path: 'component_code', message }] };
}
