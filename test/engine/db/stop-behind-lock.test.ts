import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { startOwnEngine } from '../../support/own-engine.ts';

test('a stop that waits for a lock of another transaction gives up in time and ends in order', async () => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'headwater-stop-'));
  const warnings: string[] = [];
  const { engine } = await startOwnEngine({
    databaseUrl: database.url,
    dataDir,
    stopWaitMs: 300,
    log: pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) }),
  });
  await database.db.sql.begin(async (sql) => {
    // As of a node that stands still within a transaction.
    await sql`lock table nodes, graphile_worker._private_jobs in access exclusive mode`;
    await engine.stop();
  });
  expect(warnings).toContain('the stop waits no longer; other nodes take over the unfinished work');
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});
