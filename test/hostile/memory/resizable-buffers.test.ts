// isolate: Resizable array buffers, which V8 maps from the system past every limit of the isolate.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

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
