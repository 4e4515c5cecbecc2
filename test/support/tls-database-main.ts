import { openDatabase } from '../../engine/src/db/database.ts';
import { createJobPool } from '../../engine/src/db/jobs/job-pool.ts';
import { migrate } from '../../engine/src/db/server/migrate.ts';
import { testLog } from './logs.ts';

/**
 * A process that prepares a database and asks it by each client that a node has, and says whether
 * their connections are encrypted. A process of its own: NODE_EXTRA_CA_CERTS is read at the start.
 */
const url = process.argv[2] ?? '';
const isEncrypted = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
const ends: (() => Promise<unknown>)[] = [];
try {
  await migrate({ url, log: testLog });
  const db = openDatabase({ url });
  ends.push(() => db.close());
  const stopping = new AbortController();
  const jobs = createJobPool({ databaseUrl: url, maxConnections: 1, stopping: stopping.signal, log: testLog });
  ends.push(() => jobs.end());
  const [queries] = await db.sql.unsafe<{ ssl: boolean }[]>(isEncrypted);
  const { rows } = await jobs.query<{ ssl: boolean }>(isEncrypted);
  process.stdout.write(JSON.stringify({ queries: queries?.ssl, jobs: rows[0]?.ssl }));
} catch (error) {
  process.stdout.write(JSON.stringify({ code: (error as { code?: string }).code ?? String(error) }));
}
for (const end of ends) await end();
