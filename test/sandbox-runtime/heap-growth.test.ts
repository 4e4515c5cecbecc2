import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const MODULE = new URL('../../api/src/grow-heap-further.ts', import.meta.url).href;

/**
 * Half a gigabyte of buffers comes and goes, five megabytes at a time. Prints how often the whole
 * heap was collected meanwhile.
 */
const PROGRAM = `
  import { PerformanceObserver, constants } from 'node:perf_hooks';
  import { setImmediate as turn } from 'node:timers/promises';
  const { growHeapFurther } = await import('${MODULE}');
  if (process.argv[1] === 'grow') growHeapFurther();
  let collections = 0;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections++;
  }).observe({ entryTypes: ['gc'] });
  const alive = Array.from({ length: 200_000 }, (_, i) => ({ i }));
  for (let i = 0; i < 100; i++) {
    Buffer.alloc(5_000_000, i);
    await turn();
  }
  await turn();
  console.log(collections, alive.length);`;

const collections = async (...args: string[]) => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROGRAM, ...args]);
  return Number(stdout.split(' ')[0]);
};

test('buffers that come and go have the whole heap collected less than half as often', async () => {
  const usual = await collections();
  expect(usual).toBeGreaterThan(4);
  expect(await collections('grow')).toBeLessThan(usual / 2);
});
