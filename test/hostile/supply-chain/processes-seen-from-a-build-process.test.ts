// os: Native code in a build process that reads the command lines of everything that runs on the machine.
import { spawn, spawnSync } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { findBuildConfinement } from '../../../sandbox-runtime/src/confinement/build-prefix.ts';
import { createStarter } from '../../../sandbox-runtime/src/starter/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const OTHER = `of-somebody-else-${process.pid}`;

const ATTACK = `
const fs = require('node:fs');
const seen = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((pid) => {
  try { return fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8'); } catch (error) { return error.code; }
});
new (require('node:net').Socket)({ fd: 3 }).write(JSON.stringify(seen));`;

/** Root or in a user namespace: most containers permit neither. */
const mayMount = [[], ['--map-root-user']].some((options) => {
  const [program, ...args] = ['unshare', '--pid', '--fork', '--mount-proc', ...options, 'true'];
  return spawnSync(program, args).status === 0;
});

it.runIf(mayMount).each([false, true])('sees its own, with a network or without (%s)', async (network) => {
  const other = spawn('sh', ['-c', `sleep 100; : ${OTHER}`], { stdio: 'ignore', detached: true });
  onTestFinished(() => void process.kill(-(other.pid ?? 0), 'SIGKILL'));
  const { prefix } = await findBuildConfinement({ network });
  const starter = await createStarter();
  onTestFinished(() => starter.stop());
  const said = await world.unharmed(async () => {
    let heard = '';
    const [program, ...args] = [...prefix, process.execPath, '-'];
    const order = { program, args, environment: {}, files: [], sessionNice: 1, script: ATTACK };
    const handle = starter.start(order, {
      started: (_pid, channel) => void channel.setEncoding('utf8').on('data', (text: string) => (heard += text)),
      ended: () => undefined,
    });
    const seen = await eventually(() => heard !== '' && (JSON.parse(heard) as string[]));
    handle.kill();
    return seen;
  });
  expect(said.some((line) => line.includes(process.execPath))).toBe(true);
  expect(said.filter((line) => line.includes(OTHER))).toEqual([]);
});
