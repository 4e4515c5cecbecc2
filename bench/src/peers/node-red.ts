import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../system/free-port.ts';
import type { Undo } from '../undo.ts';
import { installPeers, nodeRedMain } from './install-peers.ts';

/** Two nodes: a request comes in, and its JSON body is the answer. */
const FLOWS = [
  { id: 'tab', type: 'tab', label: 'echo' },
  { id: 'in', type: 'http in', z: 'tab', url: '/echo', method: 'post', x: 0, y: 0, wires: [['out']] },
  { id: 'out', type: 'http response', z: 'tab', x: 0, y: 0, wires: [] },
];
const BOOT_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

/** Node-RED with its defaults and no editor. It ends with the bench. */
export async function startNodeRed(undo: Undo): Promise<{ pid: number; url: string }> {
  installPeers('node-red');
  const dir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-node-red-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true }));
  const port = await findFreePort();
  const settings = {
    uiHost: '127.0.0.1',
    uiPort: port,
    flowFile: 'flows.json',
    httpAdminRoot: false,
    telemetry: { enabled: false },
    logging: { console: { level: 'error', metrics: false, audit: false } },
  };
  writeFileSync(path.join(dir, 'settings.js'), `module.exports = ${JSON.stringify(settings)};`);
  writeFileSync(path.join(dir, 'flows.json'), JSON.stringify(FLOWS));
  const args = [nodeRedMain(), '--userDir', dir, '--settings', path.join(dir, 'settings.js')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  undo.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  const url = `http://127.0.0.1:${port}/echo`;
  for (const endMs = performance.now() + BOOT_TIMEOUT_MS; performance.now() < endMs; await sleep(POLL_MS)) {
    const headers = { 'content-type': 'application/json' };
    // Not listening, or without its flow yet.
    const answer = await fetch(url, { method: 'POST', headers, body: '{}' }).catch(() => undefined);
    if (answer?.ok === true) return { pid: child.pid as number, url };
    if (child.exitCode !== null) break;
  }
  throw new Error('Node-RED did not become ready');
}
