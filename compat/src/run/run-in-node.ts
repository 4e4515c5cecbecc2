import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface NodeOrder {
  /** Path of the bundle, an ES module. */
  file: string;
  wallMs: number;
}

export interface NodeResult {
  ok: boolean;
  message: string;
  /** Requests that reached the mock. */
  requests: number;
}

const RUNNER = fileURLToPath(new URL('node-runner-main.ts', import.meta.url));
const WALL_MS = 10_000;
const GRACE_MS = 10_000;

/** Runs a bundle in a Node.js of its own, against the mock, without this process's environment. */
export async function runInNode(code: string): Promise<NodeResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headwater-compat-'));
  try {
    const file = path.join(folder, 'bundle.mjs');
    await writeFile(file, code);
    return await callRunner({ file, wallMs: WALL_MS }, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function callRunner(order: NodeOrder, cwd: string): Promise<NodeResult> {
  return new Promise((resolve) => {
    const options = { cwd, timeout: order.wallMs + GRACE_MS, killSignal: 'SIGKILL' as const, env: {} };
    execFile(process.execPath, ['--no-warnings', RUNNER, JSON.stringify(order)], options, (error, stdout) => {
      const last = stdout.trim().split('\n').at(-1) ?? '';
      try {
        resolve(JSON.parse(last) as NodeResult);
      } catch {
        // It was killed, or ended by itself before it had a result.
        resolve({ ok: false, message: error?.message ?? 'no result', requests: 0 });
      }
    });
  });
}
