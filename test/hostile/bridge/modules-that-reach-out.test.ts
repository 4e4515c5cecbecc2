// isolate: Modules of Node that would start processes, threads or debuggers, compile code elsewhere or open sockets.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('can be named, and do nothing', async () => {
  const emitted = await emitsOf(
    world,
    `const opened = (socket) => {
  socket.on('error', () => {}).on('connect', () => done.push('socket'));
  throw new Error('Nothing is open yet');
};
const acts = {
  child_process: (m) => m.execSync('id'), worker_threads: (m) => new m.Worker('1', { eval: true }), vm: (m) => new m.Script('1').runInNewContext(),
  inspector: (m) => new m.Session(), net: (m) => opened(m.connect(1)), tls: (m) => opened(m.connect(1)), dgram: (m) => m.createSocket('udp4'),
  cluster: (m) => m.fork(), wasi: (m) => new m.WASI(), repl: (m) => m.start(), v8: (m) => m.deserialize(Buffer.alloc(1)),
};
const done = [];
for (const [name, act] of Object.entries(acts)) try { act(process.getBuiltinModule(name)); done.push(name); } catch {}
await new Promise((resolve) => setTimeout(resolve, 50));
this.$emit(done);`,
  );
  expect(emitted).toEqual([[]]);
});
