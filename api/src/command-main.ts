import { HeadwaterError } from '@headwater/shared';
import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import { createProcessLog } from './process-log.ts';

/**
 * The process of a command beside the node. `run` answers the JSON document that goes to stdout, or
 * undefined where it has written to that itself. Problems go to stderr, with code 1.
 */
export async function runCommand(run: (config: Config, log: Logger) => Promise<object | undefined>): Promise<void> {
  // Only a process that ends by itself takes along the Postgres that it has started.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  const outcome = readConfig(process.env, []);
  if (!outcome.ok) {
    return fail(`The configuration is not valid:\n${outcome.problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
  const { config } = outcome;
  const logLevel = config.logLevel === 'info' ? 'warn' : config.logLevel;
  try {
    const answer = await run(config, createProcessLog({ ...config, logLevel }, process.stderr));
    if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    fail(error.message);
  }
}

function fail(text: string): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
