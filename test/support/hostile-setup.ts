import { createTestDatabase } from './database.ts';
import { HOSTILE_SERVER_VARIABLE, type HostileServer } from './hostile-server.ts';
import { startSharedRegistry } from './hostile-registry.ts';
import { startServer } from './server.ts';

/** One server for all attacks: an attack that leaves something behind meets those that come after it. */
export async function setup(): Promise<() => Promise<void>> {
  const database = await createTestDatabase();
  // Nothing of an attack is to reach a registry outside.
  const registry = await startSharedRegistry();
  const env = { HEADWATER_LOG_LEVEL: 'warn', HEADWATER_NPM_REGISTRY: registry.url };
  const server = await startServer({ databaseUrl: database.url, env, ownSession: true }).catch(
    async (error: unknown) => {
      await registry.stop();
      await database.drop();
      throw error;
    },
  );
  const shared: HostileServer = { url: server.url, pid: server.process.pid, databaseUrl: database.url };
  process.env[HOSTILE_SERVER_VARIABLE] = JSON.stringify(shared);
  return async () => {
    const ended = await server.process.end('SIGTERM');
    if (ended.code !== 0) {
      console.error(
        `The attacked server did not stop in order (${JSON.stringify(ended)}):\n${server.process.output()}`,
      );
      process.exitCode = 1;
    }
    await registry.stop();
    await database.drop();
  };
}
