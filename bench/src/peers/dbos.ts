import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { startEmbeddedPostgres } from '../../../engine/src/db/server/embedded-postgres.ts';
import { nextMessage, startChild } from '../start-child.ts';
import { listProcessTree, type ProcessInfo } from '../system/process-tree.ts';
import { installPeers } from './install-peers.ts';
import type { WorkflowSystem } from './workflow-system.ts';

/**
 * DBOS in a Node process, behind a plain HTTP server, on the same embedded Postgres with the same
 * durability as ours.
 */
export const DBOS: WorkflowSystem = {
  name: 'DBOS',
  async start(undo) {
    installPeers('workflow');
    const dataDir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-dbos-'));
    undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const database = await startEmbeddedPostgres({ dataDir, log: pino({ level: 'warn' }) });
    undo.push(() => database.stop());
    const child = startChild(new URL('dbos-main.ts', import.meta.url), undo, [database.url]);
    const port = await nextMessage<number>(child);
    return {
      endpoint: (steps) => `http://127.0.0.1:${port}/steps${steps}`,
      processes: () => [...listProcessTree(child.pid as number), ...postgresOf(dataDir)],
    };
  },
};

function postgresOf(dataDir: string): ProcessInfo[] {
  const server = listProcessTree(process.pid).find(({ command }) => command.includes(dataDir));
  return server === undefined ? [] : listProcessTree(server.pid);
}
