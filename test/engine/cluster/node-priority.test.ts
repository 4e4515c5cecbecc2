import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { startServer } from '../../support/server.ts';

/** Sessions share out the processors, and we may say how. */
const mayRaise = process.getuid?.() === 0 && existsSync('/proc/self/autogroup');
const niceOf = (pid: number) => Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1]);

const helpersOf = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).filter((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').startsWith('V8Worker'),
  );

test.runIf(mayRaise).each([true, false])(
  'only a node with a session of its own goes before others, and its thread before its helpers (%s)',
  async (ownSession) => {
    const before = niceOf(process.pid);
    const database = await createTestDatabase();
    const server = await startServer({ databaseUrl: database.url, ownSession });
    const { pid } = server.process;
    const nice = niceOf(pid);
    const helpers = helpersOf(pid).map((thread) => getPriority(Number(thread)));
    const thread = getPriority(pid);
    await server.stop();
    await database.drop();
    expect(nice).toBe(ownSession ? -5 : before);
    expect(helpers.length).toBeGreaterThan(0);
    expect(new Set(helpers)).toEqual(new Set([ownSession ? thread + 10 : thread]));
    expect(niceOf(process.pid)).toBe(before);
  },
);
