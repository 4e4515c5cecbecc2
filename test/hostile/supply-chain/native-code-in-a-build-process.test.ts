// os: Native code in a build process that reads and writes the node's memory, signals it, and leaves a process behind.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findBuildConfinement } from '../../../sandbox-runtime/src/confinement/build-prefix.ts';
import { createStarter } from '../../../sandbox-runtime/src/starter/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

/** Not to be looked into, and not there. */
const REFUSALS = ['EACCES', 'EPERM', 'ESRCH', 'ENOENT'];

const isLinux = process.platform === 'linux';
const LEFT_BEHIND = `left-behind-${process.pid}`;

/**
 * Node's permission model binds JavaScript, but not the bundler's own program. So the attack runs
 * without it.
 */
const attack = (nodePid: number) => `
const fs = require('node:fs');
const outcomes = {};
const attempt = (what, act) => { try { act(); outcomes[what] = 'done'; } catch (error) { outcomes[what] = error.code; } };
attempt('environ', () => fs.readFileSync('/proc/${nodePid}/environ'));
attempt('memory', () => fs.closeSync(fs.openSync('/proc/${nodePid}/mem', 'r+')));
attempt('file', () => fs.readlinkSync('/proc/${nodePid}/fd/0'));
attempt('signal', () => process.kill(${nodePid}, 0));
const child = require('node:child_process').spawn('sh', ['-c', 'sleep 100; : ${LEFT_BEHIND}'], { detached: true, stdio: 'ignore' });
child.once('spawn', () => new (require('node:net').Socket)({ fd: 3 }).write(JSON.stringify(outcomes)));`;

const isLeft = () =>
  readdirSync('/proc').some((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith(`sh\0-c\0sleep 100; : ${LEFT_BEHIND}`)
      );
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });

it.skipIf(!isLinux).each([false, true])(
  'reaches no process outside, with a network or without (%s)',
  async (network) => {
    const { prefix } = await findBuildConfinement({ network });
    const starter = await createStarter();
    try {
      const said = await world.unharmed(async () => {
        let heard = '';
        const [program, ...args] = [...prefix, process.execPath, '-'];
        const order = { program, args, environment: {}, files: [], sessionNice: 1, script: attack(world.server.pid) };
        const handle = starter.start(order, {
          started: (_pid, channel) => void channel.setEncoding('utf8').on('data', (text: string) => (heard += text)),
          ended: () => undefined,
        });
        await eventually(() => heard !== '' && isLeft());
        handle.kill();
        return heard;
      });
      // Without a process namespace on this system, nothing can be expected.
      const ownProcesses = prefix.includes('--pid');
      const reached = Object.values(JSON.parse(said) as Record<string, string>);
      expect(reached.filter((outcome) => ownProcesses && !REFUSALS.includes(outcome))).toEqual([]);
      await eventually(() => !ownProcesses || !isLeft());
    } finally {
      await starter.stop();
    }
  },
);
