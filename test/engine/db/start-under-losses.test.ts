import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { startOwnEngine } from '../../support/own-engine.ts';
import { startStatementCutter } from '../../support/statement-cutter.ts';

const GAPS = [3, 5, 8];

test('a start goes on where its connection is lost again and again, at any of its statements', async () => {
  const database = await createTestDatabase();
  const cutter = await startStatementCutter(database.url);
  const dataDir = await mkdtemp(path.join(tmpdir(), 'headwater-start-'));
  let cuts = 0;
  const armed = () => cutter.arm({ at: GAPS[cuts % GAPS.length] as number, when: 'answered' });
  armed();
  const cutting = setInterval(() => {
    if (!cutter.hasCut()) return;
    cuts++;
    armed();
  }, 10);
  const { engine } = await startOwnEngine({ databaseUrl: cutter.url, dataDir });
  clearInterval(cutting);
  cutter.disarm();
  expect(cuts).toBeGreaterThan(2);
  await engine.stop();
  await cutter.stop();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});
