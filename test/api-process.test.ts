import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { eventually } from './support/eventually.ts';
import { startProcess, type TestProcess } from './support/processes.ts';
import { deploy, startServer, type TestServer } from './support/server.ts';

const MAIN = fileURLToPath(new URL('../api/src/main.ts', import.meta.url));

let database: TestDatabase;
const processes: TestProcess[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const process of processes.splice(0)) await process.end();
  await database.drop();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function startMain(env: Record<string, string>, args: string[] = []): TestProcess {
  const process = startProcess({ args: [MAIN, ...args], env: { DATABASE_URL: database.url, ...env } });
  processes.push(process);
  return process;
}

test('a wrong configuration ends the process with code 1 and every problem on a line', async () => {
  const process = startMain({ PORT: 'x', HEADWATER_ADMIN_KEY: 'short' }, ['everything']);
  expect(await process.exited).toEqual({ code: 1, signal: null });
  expect(process.output().match(/^ {2}- .+$/gm)).toHaveLength(3);
});
