import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Undo } from '../undo.ts';
import { installPeers, workerdBinary } from './install-peers.ts';

const COMPATIBILITY_DATE = '2026-11-01';

const ECHO = `export default {
  async fetch(request) {
    return Response.json(await request.json());
  },
};
`;

/** Keeps the code that a PUT brings, and answers a GET with a worker of that code and the query. */
const LOADER = `const codes = new Map();
export default {
  async fetch(request, env) {
    const { pathname, search } = new URL(request.url);
    if (request.method === 'PUT') {
      codes.set(pathname, await request.text());
      return new Response('kept');
    }
    const code = () => ({
      compatibilityDate: '${COMPATIBILITY_DATE}',
      mainModule: 'main.js',
      modules: { 'main.js': codes.get(pathname) },
    });
    return env.LOADER.get(pathname + search, code).getEntrypoint().fetch(request);
  },
};
`;

const configOf = (bindings: string) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "worker.js")],
    compatibilityDate = "${COMPATIBILITY_DATE}",
    bindings = [${bindings}],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/** One workerd with one worker that echoes a JSON body. It ends with the bench. */
export function startWorkerd(undo: Undo): Promise<{ pid: number; url: string }> {
  return start(undo, ECHO, '', []);
}

/**
 * A workerd that loads a worker when it is first asked for, as its users load code of strangers:
 * `PUT /name` brings the code, and `GET /name?n` is answered by the nth worker with it.
 */
export function startWorkerdLoader(undo: Undo): Promise<{ pid: number; url: string }> {
  return start(undo, LOADER, '(name = "LOADER", workerLoader = ())', ['--experimental']);
}

async function start(undo: Undo, worker: string, bindings: string, flags: readonly string[]) {
  installPeers('workerd');
  const dir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-workerd-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(path.join(dir, 'worker.js'), worker);
  writeFileSync(path.join(dir, 'config.capnp'), configOf(bindings));
  const child = spawn(workerdBinary(), ['serve', path.join(dir, 'config.capnp'), '--control-fd=1', ...flags], {
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
