import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nextMessage, startChild } from '../start-child.ts';
import { findFreePort } from '../system/free-port.ts';
import { listProcessTree } from '../system/process-tree.ts';
import type { Undo } from '../undo.ts';
import { installPeers, restateBinary } from './install-peers.ts';
import type { WorkflowSystem } from './workflow-system.ts';

const READY_MS = 30_000;
const POLL_MS = 100;

/**
 * One Restate server with its defaults, on a folder of its own, and a service in a Node process.
 */
export const RESTATE: WorkflowSystem = {
  name: 'Restate',
  async start(undo) {
    installPeers('workflow');
    const dataDir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-restate-'));
    undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const service = startChild(new URL('restate-service-main.ts', import.meta.url), undo);
    const servicePort = await nextMessage<number>(service);
    const [ingress, admin, fabric] = [await findFreePort(), await findFreePort(), await findFreePort()];
    const server = startServer(undo, dataDir, { ingress, admin, fabric });
    await untilReady(server, `http://127.0.0.1:${admin}/health`);
    await register(`http://127.0.0.1:${admin}/deployments`, `http://127.0.0.1:${servicePort}`);
    return {
      endpoint: (steps) => `http://127.0.0.1:${ingress}/bench/steps${steps}`,
      processes: () => [server, service].flatMap(({ pid }) => listProcessTree(pid as number)),
    };
  },
};

function startServer(undo: Undo, dataDir: string, ports: Record<'ingress' | 'admin' | 'fabric', number>): ChildProcess {
  const server = spawn(restateBinary(), ['--no-logo', '--base-dir', dataDir], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      HOME: dataDir,
      DO_NOT_TRACK: '1',
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_LOG_FILTER: 'warn',
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${ports.fabric}`,
    },
  });
  undo.push(() => end(server));
  return server;
}

async function untilReady(server: ChildProcess, url: string): Promise<void> {
  const deadlineMs = performance.now() + READY_MS;
  while (performance.now() < deadlineMs && server.exitCode === null) {
    const isReady = await fetch(url).then(
      (response) => response.ok,
      // Not listening yet.
      () => false,
    );
    if (isReady) return;
    await sleep(POLL_MS);
  }
  throw new Error(`Restate did not become ready (exit code ${server.exitCode})`);
}

async function register(url: string, uri: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri }),
  });
  if (!response.ok) throw new Error(`Restate refused the service: ${await response.text()}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
