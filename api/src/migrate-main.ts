import { migrateDatabase, planDatabase } from '@headwater/engine';
import { runCommand } from './command-main.ts';

/* `hw server migrate [--plan]`. */

const isPlan = process.argv.includes('--plan');
await runCommand((config, log) => (isPlan ? planDatabase : migrateDatabase)({ ...config, log }));
