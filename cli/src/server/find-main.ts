import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CliError } from '../cli-error.ts';

export type ServerMain = 'main' | 'backup-main' | 'doctor-main' | 'migrate-main' | 'restore-main';

/**
 * A main file of the server, which lies beside this package. It runs in a process of its own and is
 * never imported: the command line is a client, and works without the server's packages.
 */
export function findServerMain(name: ServerMain): string {
  const file = fileURLToPath(new URL(`../../../api/src/${name}.ts`, import.meta.url));
  if (existsSync(file)) return file;
  throw new CliError('failure', 'The server is not installed beside this hw', {
    hint: 'Run it from a checkout of Headwater: npm ci && npm start',
  });
}
