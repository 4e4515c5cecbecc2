import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../engine/src/db/server/embedded-postgres.ts';
import { placeOfUrl } from '../../../engine/src/db/postgres-at.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { AUTHORITY, SERVER } from '../../support/test-certificates.ts';

const MAIN = fileURLToPath(new URL('../../support/tls-database-main.ts', import.meta.url));

let folder: string;
let authority: string;
let server: EmbeddedPostgres;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'headwater-tls-'));
  authority = path.join(folder, 'authority.pem');
  await writeFile(authority, AUTHORITY);
  const dataDir = path.join(folder, 'data');
  server = await startEmbeddedPostgres({ dataDir, log: testLog });
  const cluster = path.join(dataDir, 'postgres');
  const { uid, gid } = await stat(cluster);
  for (const [name, text] of [
    ['server.crt', SERVER.cert],
    ['server.key', SERVER.key],
  ] as const) {
    await writeFile(path.join(cluster, name), text);
    await chmod(path.join(cluster, name), 0o600);
    await chown(path.join(cluster, name), uid, gid);
  }
  const sql = postgres(server.url, { max: 1, onnotice: () => undefined });
  await sql`alter system set ssl = on`;
  await sql`select pg_reload_conf()`;
  await sql.end();
  await eventually(async () => ((await ask('sslmode=require')) as { queries?: boolean }).queries === true);
}, 240_000);
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function ask(parameters: string, env: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const url = `${server.url}?${parameters}`;
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, url], { env: { ...process.env, ...env } });
  return JSON.parse(stdout);
}

const ENCRYPTED = { queries: true, jobs: true };

test('sslmode=require encrypts the queries and the jobs of a node under any certificate', async () => {
  expect(await ask('sslmode=require')).toEqual(ENCRYPTED);
  expect(await ask('sslmode=disable')).toEqual({ queries: false, jobs: false });
});

test('sslmode=verify-full accepts only a certificate of a known authority for the host', async () => {
  expect(await ask('sslmode=verify-full')).toEqual({
    code: expect.stringMatching(/UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/),
  });
  expect(await ask('sslmode=verify-full', { NODE_EXTRA_CA_CERTS: authority })).toEqual(ENCRYPTED);
  expect(await ask(`sslmode=verify-full&sslrootcert=${encodeURIComponent(authority)}`)).toEqual(ENCRYPTED);
});

test('a host that the certificate does not name is refused by verify-full alone', () => {
  const of = (mode: string) => placeOfUrl(`postgres://u:p@db.example:5432/name?sslmode=${mode}&application_name=x`);
  expect(of('verify-full')).toEqual({
    url: 'postgres://u:p@db.example:5432/name?application_name=x',
    ssl: { host: 'db.example', servername: 'db.example' },
  });
  expect(of('require').ssl).toEqual({ rejectUnauthorized: false });
  expect(of('disable').ssl).toBe(false);
  expect(placeOfUrl('postgres://u:p@db.example/name')).toEqual({ url: 'postgres://u:p@db.example/name' });
});
