import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { startEmbeddedPostgres } from '../../../engine/src/db/server/embedded-postgres.ts';
import type { BenchArguments } from '../arguments.ts';
import type { Undo } from '../undo.ts';
import { measureEcho } from './echo-requests.ts';
import { measureInserts } from './insert-rows.ts';
import { measureSignedPosts } from './signed-posts.ts';

/** All per second. */
export interface Baselines {
  echoRequests: number;
  insertsSingle: number;
  insertsBatchOf50: number;
  insertsBatchOf256: number;
  signedPosts: number;
  /** One at a time. */
  signedPostsAlone: number;
}

/**
 * Measures what the path is made of, each part alone, on this machine at this moment. `round` once
 * before, once after.
 */
export interface BaselineRounds {
  round(): Promise<Baselines>;
}

/** Duration of each measurement. A shorter warm-up precedes it. */
const DURATION_MS = 2_000;

export function createBaselines(undo: Undo, options: BenchArguments, receiverUrl: string): BaselineRounds {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'headwater-bench-baseline-'));
  undo.push(() => rmSync(dataDir, { recursive: true, force: true }));
  return {
    async round() {
      const echoRequests = await measureEcho(undo, options, DURATION_MS);
      const signedPosts = await measureSignedPosts(receiverUrl, options, DURATION_MS);
      const alone = { ...options, connections: 1 };
      const signedPostsAlone = await measureSignedPosts(receiverUrl, alone, DURATION_MS / 2);
      // Not running while the whole path is measured.
      const server = await startEmbeddedPostgres({ dataDir, log: pino({ level: 'warn' }) });
      undo.push(() => server.stop());
      const { single, batchOf50, batchOf256 } = await measureInserts(server.url, options.bodyBytes, DURATION_MS);
      await server.stop();
      return {
        echoRequests,
        insertsSingle: single,
        insertsBatchOf50: batchOf50,
        insertsBatchOf256: batchOf256,
        signedPosts,
        signedPostsAlone,
      };
    },
  };
}
