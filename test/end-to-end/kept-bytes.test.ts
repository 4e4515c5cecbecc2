import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { KeptBytes } from '@headwater/shared';
import { expect, test } from 'vitest';

test('pieces of all sizes, alone and several of one read, are put together as they came', () => {
  const kept = new KeptBytes();
  const whole: Buffer[] = [];
  const sizes = [1, 3, 700, 1_024, 20_000, 65_536, 5, 1_023, 70_000, 2_000, 2];
  for (let read = 0; read < 60; read++) {
    const bytes = Buffer.allocUnsafeSlow(140_000);
    for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 7 + read) % 251;
    let from = read;
    for (let n = 0; n < (read % 5) + 1; n++) {
      const piece = bytes.subarray(from, from + (sizes[(read * 3 + n) % sizes.length] ?? 0));
      from += piece.length + (read % 3);
      whole.push(Buffer.from(piece));
      kept.add(piece);
    }
  }
  const expected = Buffer.concat(whole);
  expect(kept.length).toBe(expected.length);
  expect(kept.join().equals(expected)).toBe(true);
  expect(new KeptBytes().join()).toHaveLength(0);
});

test.each([
  ['bytes', 1],
  ['kilobytes', 1_500],
])('single %s do not keep alive the buffer of their read', async (_, bytes) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const kept = new KeptBytes();
  const reads = Array.from({ length: 1_000 }, () => {
    const read = Buffer.allocUnsafeSlow(64 * 1024);
    kept.add(read.subarray(100, 100 + bytes));
    return new WeakRef(read.buffer);
  });
  // The target of a new WeakRef stays alive until the end of the turn.
  await setImmediate();
  collect();
  // All but the last, of which more may come.
  expect(reads.filter((read) => read.deref() !== undefined).length).toBeLessThanOrEqual(1);
  const whole = kept.join();
  expect(whole).toHaveLength(1_000 * bytes);
  expect(whole.buffer.byteLength).toBeLessThanOrEqual(Math.max(2 * whole.length, Buffer.poolSize));
});

test('bytes read for the body alone are kept without a copy in any number of chunks', () => {
  const read = Buffer.allocUnsafeSlow(64 * 1024);
  const kept = new KeptBytes();
  kept.add(read.subarray(200));
  expect(kept.join().buffer).toBe(read.buffer);
});
