import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Undo } from '../undo.ts';
import { installPeers, workerdBinary } from './install-peers.ts';

const WORKER = `export default {
  async fetch(request) {
    return Response.json(await request.json());
  },
};
`;

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.js")],
    compatibilityDate = "2026-11-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/** One workerd with one worker that echoes a JSON body. It ends with the bench. */
export async function startWorkerd(undo: Undo): Promise<{ pid: number; url: string }> {
  installPeers('workerd');
  const dir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-workerd-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(path.join(dir, 'worker.js'), WORKER);
  writeFileSync(path.join(dir, 'config.capnp'), CONFIG);
  const child = spawn(workerdBinary(), ['serve', path.join(dir, 'config.capnp'), '--control-fd=1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  undo.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  const port = await listeningPort(child.stdout);
  return { pid: child.pid as number, url: `http://127.0.0.1:${port}/` };
}

/** It says so in a line of JSON. */
async function listeningPort(output: NodeJS.ReadableStream): Promise<number> {
  let text = '';
  for await (const chunk of output) {
    text += String(chunk);
    const port = /"event":"listen".*"port":(\d+)/.exec(text)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error(`workerd ended before it listened: ${text}`);
}
