import { spawn } from 'node:child_process';
import { endIdleConnections } from './idle-connections.ts';
import { rememberProcess } from './run-folder.ts';
import { eventually } from './eventually.ts';

export interface ProcessOptions {
  /** Arguments of Node: flags, the file, its arguments. */
  args: readonly string[];
  /**
   * Added to PATH, HOME, TMPDIR and Node's compile cache. No other variables of this process are
   * passed on.
   */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /**
   * In a session of its own, as where a system starts it: Linux then shares out the processors
   * between it and this process.
   */
  ownSession?: boolean;
}

export interface TestProcess {
  pid: number;
  /** Everything it has written to stdout and stderr so far. */
  output(): string;
  /**
   * Resolves with the first match in the output; fails at once when the process ends without it.
   */
  untilOutput(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Sends the signal and resolves when the process is gone. Default SIGKILL. */
  end(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const DEFAULT_TIMEOUT_MS = 20_000;

/** Runs a Node process like the one the tests run in. The test ends it. */
export function startProcess(options: ProcessOptions): TestProcess {
  const child = spawn(process.execPath, options.args, {
    cwd: options.cwd,
    detached: options.ownSession ?? false,
    env: { ...inheritedEnv(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  let over = false;
  const forget = rememberProcess(child.pid);
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', reject);
    // `close`, not `exit`: by then all output has arrived.
    child.once('close', (code, signal) => {
      over = true;
      forget();
      resolve({ code, signal });
    });
  });
  return {
    pid: child.pid ?? 0,
    output: () => output,
    exited,
    async untilOutput(pattern, timeoutMs = DEFAULT_TIMEOUT_MS) {
      const found = await eventually(() => output.match(pattern) ?? (over && 'over'), {
        timeoutMs,
        what: `${pattern}`,
      });
      if (found === 'over') throw new Error(`The process ended without ${pattern}:\n${output}`);
      return found;
    },
    end(signal = 'SIGKILL') {
      if (signal !== 'SIGKILL') endIdleConnections();
      child.kill(signal);
      return exited;
    },
  };
}

function inheritedEnv(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE']) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
