import { makeBackup } from '@headwater/engine';
import { HeadwaterError } from '@headwater/shared';
import { runCommand } from './command-main.ts';

/* `hw server backup <file|->`. */

await runCommand(async (config, log) => {
  const file = process.argv[2] ?? '-';
  if (config.databaseUrl !== undefined) {
    const message =
      'DATABASE_URL is set: this is for the embedded database. Use pg_dump or base backups of your server.';
    throw new HeadwaterError('INVALID_REQUEST', message);
  }
  const made = await makeBackup({ ...config, to: file === '-' ? process.stdout : file, log });
  return file === '-' ? undefined : made;
});
