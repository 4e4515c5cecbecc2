import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { text } from 'node:stream/consumers';
import { readEnvironment } from './environment.ts';
import { EXIT } from './exit-codes.ts';
import { runCli } from './run-cli.ts';

/* `hw`: bin/hw.js starts it on a Node that runs TypeScript. */

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
// `hw events … | head` closes the pipe when it has enough.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(EXIT.ok);
  process.stderr.write(`error: the output cannot be written: ${message}\n`);
  process.exit(EXIT.failure);
});
// The exit code says it too.
process.stderr.on('error', () => undefined);

process.exitCode = await runCli({
  argv: process.argv.slice(2),
  environment: readEnvironment(process.env, homedir()),
  stdout: process.stdout,
  stderr: process.stderr,
  interactive: process.stdin.isTTY && process.stderr.isTTY,
  readStdin: () => text(process.stdin),
  workDir: process.cwd(),
  version: readVersion(),
  signal: stopping.signal,
});

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}
