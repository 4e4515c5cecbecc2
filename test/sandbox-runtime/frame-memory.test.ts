import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const moduleAt = (path: string) => JSON.stringify(import.meta.resolve(`../../sandbox-runtime/src/${path}`));

/**
 * Announces 16 megabytes, and sends pieces of one byte, each from a read of its own. Prints the
 * memory held for 200 000 of them.
 */
const PROGRAM = `
  import { FrameReader } from ${moduleAt('bridge/frames.ts')};
  import { TaskFrameReader } from ${moduleAt('builder/task-frames.ts')};
  const used = () => { gc(); const { heapUsed, arrayBuffers } = process.memoryUsage(); return heapUsed + arrayBuffers; };
  const MB = 2 ** 20;
  const readers = {
    frames: [new FrameReader(16 * MB), [0, 0, 0, 1]],
    tasks: [new TaskFrameReader({ maxJsonBytes: 16 * MB, maxTextBytes: 0 }), [1, 0, 0, 0, 0, 0, 0, 0]],
  };
  const [reader, head] = readers[process.argv[1]];
  const before = used();
  reader.push(Buffer.from(head));
  for (let i = 0; i < 200_000; i++) reader.push(Buffer.from(new Uint8Array(1).buffer));
  console.log(used() - before);
  reader.push(Buffer.from([1]));`;

test.each(['frames', 'tasks'])(
  'a frame of %s that comes byte by byte takes no more memory than its bytes',
  async (kind) => {
    const { stdout } = await run(process.execPath, ['--expose-gc', '--input-type=module', '-e', PROGRAM, kind]);
    expect(Number(stdout)).toBeLessThan(4 * 2 ** 20);
  },
);
