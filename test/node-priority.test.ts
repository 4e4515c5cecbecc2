import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createTestDatabase } from './support/database.ts';
import { startServer } from './support/server.ts';

/** Sessions share out the processors, and we may say how. */
const mayRaise = process.getuid?.() === 0 && existsSync('/proc/self/autogroup');
const niceOf = (pid: number) => Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1]);

test.runIf(mayRaise).each([true, false])(
  'only a node with a session of its own goes before others (%s)',
  async (ownSession) => {
    const before = niceOf(process.pid);
    const database = await createTestDatabase();
    const server = await startServer({ databaseUrl: database.url, ownSession });
    const nice = niceOf(server.process.pid);
    await server.stop();
    await database.drop();
    expect(nice).toBe(ownSession ? -5 : before);
    expect(niceOf(process.pid)).toBe(before);
  },
);
