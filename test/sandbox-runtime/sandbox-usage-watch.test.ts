import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { UsageWatch } from '../../sandbox-runtime/src/pool/usage-watch.ts';
import { findKoffi } from '../../sandbox-runtime/src/syscall-filter/find-koffi.ts';
import { ALL_RIGHTS } from '../support/process-rights.ts';
import { soon } from '../support/sandbox-kit.ts';

const koffiPath = findKoffi();
const THREADS = 400;
const MIN_LOOKS = 8;
/** On a full machine its process gets next to nothing at times. */
const MAX_LOOKS = 80;
const EVERY_MS = 250;

/**
 * Its threads wait for a signal each, while the first computes for a moment twenty times a second.
 */
const RESTLESS = `
const koffi = { exports: {} };
process.dlopen(koffi, ${JSON.stringify(koffiPath)});
const libc = koffi.exports.load(null);
const start = libc.func('int pthread_create(void *thread, void *attributes, void *code, void *argument)');
const pause = koffi.exports.address(libc.symbol('pause', 'int'));
for (let i = 0; i < ${THREADS}; i++) start(Buffer.alloc(8), null, pause, null);
setInterval(() => { for (const end = performance.now() + 4; performance.now() < end; ); }, 50);
`;

/** Files that this process has read of, or pieces of them. */
function reads(): number {
  return Number(/^syscr: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

test.runIf(koffiPath !== undefined)('a look at a process reads a few files, however many threads it has', async () => {
  const child = spawn(process.execPath, ['-e', RESTLESS], { stdio: ['ignore', 'ignore', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const pid = child.pid!;
  await soon(() => readdirSync(`/proc/${pid}/task`).length).toBeGreaterThan(THREADS);
  const watch = new UsageWatch(pid, 4_096, { command: () => undefined }, ALL_RIGHTS);
  const before = reads();
  let looks = 0;
  // The process uses little CPU, but always some. Its threads are not checked one by one, so it
  // gets lower priority.
  while (looks < MIN_LOOKS || (!watch.isHot && looks < MAX_LOOKS)) {
    expect(watch.look(performance.now(), { inFlight: 1, tasksServed: 1 })).toEqual({ kind: 'fine' });
    looks += 1;
    await sleep(EVERY_MS);
  }
  expect((reads() - before) / looks).toBeLessThan(50);
  expect(watch.isHot).toBe(true);
});
