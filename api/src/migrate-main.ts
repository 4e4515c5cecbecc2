import { migrateDatabase } from '@headwater/engine';
import { HeadwaterError } from '@headwater/shared';
import { type Config, readConfig } from './config.ts';
import { createProcessLog } from './process-log.ts';

/* `hw server migrate`: one JSON document to stdout; what is wrong goes to stderr, with code 1. */

// Only a process that ends by itself takes along the Postgres that it has started.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

const outcome = readConfig(process.env, []);
if (outcome.ok) await run(outcome.config);
else fail(`The configuration is not valid:\n${outcome.problems.map((problem) => `  - ${problem}`).join('\n')}`);

async function run(config: Config): Promise<void> {
  const log = createProcessLog(
    { ...config, logLevel: config.logLevel === 'info' ? 'warn' : config.logLevel },
    process.stderr,
  );
  try {
    process.stdout.write(`${JSON.stringify(await migrateDatabase({ ...config, log }))}\n`);
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    fail(error.message);
  }
}

function fail(text: string): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
