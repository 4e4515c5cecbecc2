import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createTestDatabase } from './support/database.ts';
import { startServer } from './support/server.ts';

/** Sessions share out the processors, and we may say how. */
const mayRaise = process.getuid?.() === 0 && existsSync('/proc/self/autogroup');
const niceOf = (pid: number) => /nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1];

test.runIf(mayRaise)('a node with a session of its own goes before others; one in somebody’s session leaves it alone', async () => {
  const before = niceOf(process.pid);
  for (const ownSession of [true, false]) {
    const database = await createTestDatabase();
    const server = await startServer({ databaseUrl: database.url, ownSession });
    expect(niceOf(server.process.pid)).toBe(ownSession ? '-5' : before);
    await server.stop();
    await database.drop();
  }
  expect(niceOf(process.pid)).toBe(before);
});
