import { describe, expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

// isolate: Compressed data as an answer, decoded and kept: buffers that come in from outside count
// as those made inside.
describe('answers-that-are-kept', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `
const bytes = await new Response(new Blob([new Uint8Array(4e6)]).stream().pipeThrough(new CompressionStream('gzip'))).bytes();
const kept = [];
for (;;) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  kept.push(await new Response(stream).bytes());
}`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Array buffers, whose bytes are outside of the heap.
describe('array-buffers', () => {
  const world = hostile({ ownAccounts: true });

  it('a buffer there is no room for is the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const kept = [];
for (;;) kept.push(new ArrayBuffer(5e6));`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Blobs of a megabyte, kept.
describe('blobs', () => {
  const world = hostile({ ownAccounts: true });

  it('a buffer there is no room for is the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const kept = [];
for (;;) kept.push(new Blob([new Uint8Array(1e6).fill(1)]));`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Buffer.alloc of two gigabytes.
describe('buffers', () => {
  const world = hostile({ ownAccounts: true });

  it('a buffer there is no room for is the limit of memory', async () => {
    const ran = await attackMemory(world, 'Buffer.alloc(2e9);');
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: 8 kilobytes of gzip that are 8 megabytes, unpacked again and again and kept.
describe('gzip-bomb', () => {
  const world = hostile({ ownAccounts: true });

  it('a buffer there is no room for is the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const { gzipSync, gunzipSync } = process.getBuiltinModule('zlib');
const bomb = gzipSync(Buffer.alloc(8e6));
const kept = [];
for (;;) kept.push(gunzipSync(bomb));`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Resizable array buffers, which V8 maps from the system past every limit of the isolate.
describe('resizable-buffers', () => {
  const world = hostile({ ownAccounts: true });

  const CODE = `
const buffer = new ArrayBuffer(8, { maxByteLength: 600e6 });
this.$emit([buffer.byteLength, buffer.resizable ?? false, typeof buffer.resize]);
const made = [
  new (class extends ArrayBuffer {})(8, { maxByteLength: 600e6 }),
  new (new Uint8Array(1).buffer.constructor)(8, { maxByteLength: 600e6 }),
  structuredClone(buffer),
];
for (const each of made) this.$emit([each.byteLength ?? 8, each.resizable ?? false, typeof each.resize]);
new ArrayBuffer(300e6, { maxByteLength: 600e6 });`;

  it('are of fixed length, and within the limit', async () => {
    const ran = await attackMemory(world, CODE);
    expect(ran.events).toEqual(Array.from({ length: 4 }, () => [8, false, 'undefined']));
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: A stream whose queue may be of any length, and is filled.
describe('streams', () => {
  const world = hostile({ ownAccounts: true });

  it('a buffer there is no room for is the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `new ReadableStream(
  { start: (queue) => { for (;;) queue.enqueue(new Uint8Array(1e6)); } },
  { highWaterMark: 1e9 },
);`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Copies of a large object, made by structuredClone and kept.
describe('structured-clone-bomb', () => {
  const world = hostile({ ownAccounts: true });

  it('ends at the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const original = { rows: Array.from({ length: 2e4 }, (_, i) => ({ i })) };
const kept = [];
for (;;) kept.push(structuredClone(original));`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: ArrayBuffer.prototype.transfer to more than the isolate may have.
describe('transferred-buffers', () => {
  const world = hostile({ ownAccounts: true });

  it('a buffer there is no room for is the limit of memory', async () => {
    const ran = await attackMemory(world, 'new ArrayBuffer(8).transfer(300e6);');
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Typed arrays, whose bytes are outside of the heap.
describe('typed-arrays', () => {
  const world = hostile({ ownAccounts: true });

  it('a buffer there is no room for is the limit of memory', async () => {
    const ran = await attackMemory(
      world,
      `const kept = [];
for (;;) kept.push(new Float64Array(1e6).fill(1));`,
    );
    expect(ran.error).toMatchObject(MEMORY_LIMIT);
  });
});

// isolate: Closures over large buffers and arrays, which each run keeps for the next ones.
describe('closures-kept-across-runs', () => {
  const world = hostile({ ownAccounts: true });
  const MEMORY_MB = 32;
  const KEPT_BYTES = 4_000_000;
  const FIT = (MEMORY_MB * 2 ** 20) / KEPT_BYTES;
  const RUNS = 20;

  /** Emits the number of closures in the isolate, after each has returned its content. */
  const keeping = (made: string) => `
const kept = [];
export default { name: 'Closures', version: '1', run() {
  const large = ${made};
  kept.push(() => large);
  for (const closure of kept) if (closure()[0] !== 1.5) throw new Error('Lost');
  this.$emit(kept.length);
} };`;

  async function runAgainAndAgain(code: string) {
    await world.limit({ memoryMb: MEMORY_MB });
    return world.unharmed(async () => {
      const { id } = await world.attacker.deploy(code);
      const outcomes = [];
      for (let i = 0; i < RUNS; i++) outcomes.push(await world.run(id));
      return outcomes;
    });
  }

  it('over arrays, in the heap: runs go on in a new isolate once it is full, and none of them fails', async () => {
    const runs = await runAgainAndAgain(keeping(`new Array(${KEPT_BYTES / 8}).fill(1.5)`));
    expect(runs.map((run) => run.error)).toEqual(Array(RUNS).fill(undefined));
    const counted = runs.at(-1)?.events as number[];
    expect(counted).toHaveLength(RUNS);
    // A new isolate counts from one. A heap is looked at between runs: it may be larger for one of
    // them.
    expect(Math.max(...counted)).toBeGreaterThan(1);
    expect(Math.max(...counted)).toBeLessThan(1.5 * FIT);
  });

  it('over buffers, beside the heap: no more than fit are made, and runs without room for one end at the limit', async () => {
    const runs = await runAgainAndAgain(keeping(`new Float64Array(${KEPT_BYTES / 8}).fill(1.5)`));
    const failed = runs.flatMap((run) => run.error ?? []);
    const limit = { name: 'memoryMb', value: MEMORY_MB, used: expect.any(Number) };
    expect(failed).toMatchObject(failed.map(() => ({ code: 'MEMORY_LIMIT', limit })));
    expect(failed.length).toBeGreaterThan(0);
    const counted = runs.at(-1)?.events as number[];
    expect(counted.slice(0, Math.floor(FIT))).toEqual(Array.from({ length: Math.floor(FIT) }, (_, index) => index + 1));
    expect(Math.max(...counted)).toBeLessThanOrEqual(FIT);
    expect(counted.length + failed.length).toBe(RUNS);
  });
});
