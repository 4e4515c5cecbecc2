import { type RotatedSecrets, rotateSecrets } from '@headwater/engine';
import { HeadwaterError } from '@headwater/shared';
import { type Config, readConfig } from './config.ts';
import { createProcessLog } from './process-log.ts';

/*
 * `npm run secrets:rotate`: brings every secret in the database under the present encryption key,
 * which it makes itself where the key is in the data folder. docs/operations.md says how to use it.
 */

const outcome = readConfig(process.env, []);
if (outcome.ok) await run(outcome.config);
else fail(`The configuration is not valid:\n${outcome.problems.map((problem) => `  - ${problem}`).join('\n')}`);

async function run(config: Config): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const log = createProcessLog(
    { ...config, logLevel: config.logLevel === 'info' ? 'warn' : config.logLevel },
    process.stderr,
  );
  try {
    const rotated = await rotateSecrets({
      ...config,
      signal: stopping.signal,
      onProgress: (rewrapped) => say(`${rewrapped} secrets are under the new key`),
      log,
    });
    report(rotated);
  } catch (error) {
    if (!(error instanceof HeadwaterError)) throw error;
    fail(error.message);
  }
}

function report(rotated: RotatedSecrets): void {
  const { keyId, file, before, rewrapped, unopened, complete } = rotated;
  const old = before.map((use) => use.keyId).filter((id) => id !== keyId);
  say(`${rewrapped} secrets were put under the key ${keyId}.`);
  if (unopened.length > 0) {
    fail(
      `${unopened.length} secrets cannot be opened and stay as they are:\n${unopened.map((line) => `  - ${line}`).join('\n')}\n` +
        'Set these secrets anew or delete what they belong to, then run this again. Keep the old key until then.',
    );
  } else if (!complete) {
    fail('Not everything is done yet, and nothing is lost: run this again. Keep the old key until then.');
  } else if (file !== undefined) {
    say(`Nothing needs another key any more. ${file} has the new key in its first line; remove the others, which only`);
    say('backups of the database from before need. Running nodes have taken the new key up.');
  } else if (old.length > 0) {
    say(`Nothing needs ${old.join(', ')} any more: remove HEADWATER_ENCRYPTION_KEYS_OLD when the nodes start next.`);
    say('Keep the old key with the backups of the database from before.');
  } else {
    // No key is generated here: the output may reach logs before the key is in use.
    say('There was nothing to do. To replace the key, make one (openssl rand -hex 32), start the nodes with');
    say('  HEADWATER_ENCRYPTION_KEY=<the new key>');
    say('  HEADWATER_ENCRYPTION_KEYS_OLD=<the present key>');
    say('and run this again with the same two.');
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(text: string): void {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
