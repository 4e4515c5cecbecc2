import { spawn } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { CliError } from '../cli-error.ts';

/** Finds imported files faster; hw's own process does so too (bin/hw.js). */
const PLAIN_IMPORTS = `--import=${new URL('../../bin/plain-imports.js', import.meta.url).href}`;
/** As many as Node has by itself. */
const MAX_HELPERS = 4;

/**
 * Flags for the process of a node. V8 would let the young generation grow to 32 MB. Collecting that
 * blocks the thread for 10 to 30 ms once or twice a second, which decides the p99. A smaller size
 * costs more in total than it saves. A size that starts small and grows makes loading the code an
 * eighth slower. V8 gets one helper for each processor except the main thread's: more would compete
 * with it.
 */
export const NODE_FLAGS: readonly string[] = [
  PLAIN_IMPORTS,
  '--min-semi-space-size=8',
  '--max-semi-space-size=8',
  `--v8-pool-size=${Math.min(MAX_HELPERS, Math.max(1, availableParallelism() - 1))}`,
];

/**
 * Becomes the process of `file`, so that signals and the exit code are its own. Where a process
 * cannot be replaced (Windows) it runs as a child, and this function answers its exit code.
 */
export async function becomeMain(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(process.execPath, [process.execPath, ...NODE_FLAGS, file, ...args], withCompiledCode(env));
  }
  const child = spawn(process.execPath, [...NODE_FLAGS, file, ...args], {
    stdio: 'inherit',
    env: withCompiledCode(env),
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new CliError('failure', `The server cannot be started: ${cause.message}`)));
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** Runs `file` to its end and answers what it wrote to stdout; stderr goes to this process's. */
export async function readMain(
  file: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  args: readonly string[] = [],
): Promise<{ code: number; stdout: string }> {
  const child = spawn(process.execPath, [PLAIN_IMPORTS, file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: withCompiledCode(env),
    signal,
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      const aborted = signal.aborted;
      reject(new CliError(aborted ? 'interrupted' : 'failure', aborted ? 'Interrupted' : cause.message, { cause }));
    });
    child.once('close', (code) => resolve({ code: code ?? 1, stdout }));
  });
}

/**
 * The server starts in half the time with what Node has made of its files before, which is kept
 * where hw's own is (bin/hw.js).
 */
function withCompiledCode(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // Without the folder of this version of Node.
  const folder = getCompileCacheDir();
  return folder === undefined ? env : { NODE_COMPILE_CACHE: path.dirname(folder), ...env };
}
