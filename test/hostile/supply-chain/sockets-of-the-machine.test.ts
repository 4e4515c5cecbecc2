// builder: A program in the place of the bundler that connects to a socket by its path, where no network is needed.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { buildCommand } from '../../../sandbox-runtime/src/builder/build-command.ts';
import { bundleScripts, findEsbuildPaths } from '../../../sandbox-runtime/src/builder/build-scripts.ts';
import { findBuildConfinement } from '../../../sandbox-runtime/src/confinement/build-prefix.ts';
import { createStarter } from '../../../sandbox-runtime/src/starter/starter.ts';
import { findKoffi } from '../../../sandbox-runtime/src/syscall-filter/find-koffi.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const koffiPath = findKoffi();

/** It is started by the bundling process as esbuild is, and knows no permission model. */
const attack = (address: string) => `
const { spawn: startInstead } = await import('node:child_process');
const program = ${JSON.stringify(`
  const told = (outcome) => { process.stderr.write(outcome); process.exit(); };
  require('node:net').connect(${JSON.stringify(address)})
    .on('connect', () => told('connected')).on('error', (error) => told(error.code));
`)};
startInstead(process.execPath, ['--no-warnings', '-e', program], { stdio: ['ignore', 'ignore', 'inherit'] }).once('exit', () => process.exit());
`;

it.runIf(koffiPath !== undefined)('is refused by the kernel', async () => {
  const folder = await mkdtemp('/tmp/hw-socket-');
  const address = path.join(folder, 's');
  const server = createServer((socket) => socket.destroy()).listen(address);
  await once(server, 'listening');
  const starter = await createStarter();
  onTestFinished(async () => {
    await starter.stop();
    server.close();
    await rm(folder, { recursive: true });
  });
  const { prefix } = await findBuildConfinement({ network: false });
  const { bundle } = await bundleScripts();
  const rights = { readable: findEsbuildPaths(), writable: [], mayStartPrograms: true, addon: koffiPath, prefix };
  const command = buildCommand({ ...rights, maxMemoryMb: 1_024, maxCpuS: 60, maxFileMb: 0 });
  const told = await world.unharmed(async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const order = { ...command, environment: {}, files: [], sessionNice: 1, script: `${bundle}\n${attack(address)}` };
    starter.start(order, {
      started: (_pid, channel) => void channel.resume(),
      ended: ({ stderr }) => resolve(stderr),
    });
    return promise;
  });
  expect(told).toBe('ENOSYS');
});
