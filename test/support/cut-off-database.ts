import { type Database, openDatabase } from '../../engine/src/db/database.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** A database, and clients of it that can be cut off. */
export interface CutOffDatabase {
  database: TestDatabase;
  /**
   * Queries of a connection that has made them before have no words to cut at: each test has a
   * client of its own.
   */
  connect(): Promise<{ proxy: CuttingProxy; cutOff: Database }>;
  stop(): Promise<void>;
}

export async function startCutOffDatabase(): Promise<CutOffDatabase> {
  const database = await createTestDatabase();
  const ends: (() => Promise<void>)[] = [];
  return {
    database,
    async connect() {
      const proxy = await startCuttingProxy(database.url);
      const cutOff = openDatabase({ url: proxy.url, maxConnections: 2 });
      ends.push(async () => {
        await cutOff.close();
        await proxy.stop();
      });
      return { proxy, cutOff };
    },
    async stop() {
      // A client that has lost its connection takes seconds to end.
      await Promise.all(ends.map((end) => end()));
      await database.drop();
    },
  };
}
