import { restoreBackup } from '@headwater/engine';
import { HeadwaterError } from '@headwater/shared';
import { runCommand } from './command-main.ts';

/* `hw server restore <file> [--replace]`. */

await runCommand(async (config, log) => {
  const [file = '', ...options] = process.argv.slice(2);
  if (config.databaseUrl !== undefined) {
    const message = 'DATABASE_URL is set: this is for the embedded database. Restore your server with its own tools.';
    throw new HeadwaterError('INVALID_REQUEST', message);
  }
  return restoreBackup({ ...config, file, replaces: options.includes('--replace'), log });
});
