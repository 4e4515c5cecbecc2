import { startEmbeddedPostgres } from '../../engine/src/db/server/embedded-postgres.ts';
import { testLog } from './logs.ts';

/**
 * A process that owns an embedded Postgres, for tests that kill it. SIGTERM stops it cleanly,
 * SIGUSR2 exits without.
 */
const startedAtMs = performance.now();
const server = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? '', log: testLog });
process.stdout.write(`up ${server.url} adopted=${server.adopted} ms=${Math.round(performance.now() - startedAtMs)}\n`);
process.once('SIGTERM', () => void server.stop());
process.once('SIGUSR2', () => process.exit(1));
