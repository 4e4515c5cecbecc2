import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

/** Capabilities in containers that drop all of them and add only those to become another user. */
const ONLY_TO_BECOME_OTHERS = ['setpriv', '--bounding-set=-all,+setuid,+setgid', '--inh-caps=-all'];
/** Root that may do everything but signal others. */
const WITHOUT_KILL = ['setpriv', '--bounding-set=-kill', '--inh-caps=-all'];
/** It waits for processes that it cannot kill for ever. */
const GIVEN_UP_MS = 60_000;
const hasBoth = [ONLY_TO_BECOME_OTHERS, WITHOUT_KILL].every(
  ([program = '', ...args]) => process.getuid?.() === 0 && spawnSync(program, [...args, 'true']).status === 0,
);

/** Runs a script in Node behind a command, and parses the JSON that it prints. */
async function runBehind([program = '', ...args]: readonly string[], script: string): Promise<unknown> {
  const child = spawn(program, [...args, process.execPath, '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: GIVEN_UP_MS,
    killSignal: 'SIGKILL',
  });
  const [said] = await Promise.all([text(child.stdout as Readable), once(child, 'exit')]);
  return JSON.parse(said);
}

test.runIf(hasBoth).each([
  ['all capabilities but those to become others', ONLY_TO_BECOME_OTHERS],
  ['the one to signal others', WITHOUT_KILL],
])('root without %s keeps its processes its own, says why, and ends them', async (_, prefix) => {
  const script = `
    import { startSandbox } from ${JSON.stringify(import.meta.resolve('../../sandbox-runtime/src/index.ts'))};
    const lines = [];
    const sandbox = await startSandbox({ blankProcesses: 1, log: (_level, message) => lines.push(message) });
    const user = sandbox.layers().find(({ layer }) => layer === 'user');
    await sandbox.stop();
    console.log(JSON.stringify({ user, lines }));`;
  const reason = 'processes of other users cannot be killed, see CAP_KILL';
  expect(await runBehind(prefix, script)).toEqual({
    user: { layer: 'user', active: false, note: reason },
    lines: [expect.stringContaining(`user (${reason})`)],
  });
});

test.runIf(hasBoth)('a process that cannot be killed is told of once, and lives until it ends by itself', async () => {
  const script = `
    import { createStarter } from ${JSON.stringify(import.meta.resolve('../../sandbox-runtime/src/starter/starter.ts'))};
    const starter = await createStarter();
    const told = [];
    const other = ['--reuid=60706', '--regid=60706', '--clear-groups', '--'];
    const untilTold = 'echo up >&3; for _ in $(seq 300); do read _ <&3 && exit 0; sleep 0.1; done; exit 1';
    const args = [...other, 'sh', '-c', untilTold];
    const order = { program: 'setpriv', args, environment: {}, files: [], sessionNice: 1, script: '' };
    const handle = starter.start(order, {
      started(pid, channel) {
        channel.once('data', () => {
          handle.kill();
          handle.kill();
          channel.end('\\n');
          channel.resume();
        });
        told.push(pid);
      },
      notKilled: (pid, error) => told.push(pid, error),
      ended(end) {
        console.log(JSON.stringify({ told, end }));
        void starter.stop();
      },
    });`;
  const { told, end } = (await runBehind(WITHOUT_KILL, script)) as { told: unknown[]; end: unknown };
  expect(told).toEqual([told[0], told[0], expect.stringContaining('EPERM')]);
  expect(end).toEqual({ code: 0, signal: null, stderr: '' });
});
