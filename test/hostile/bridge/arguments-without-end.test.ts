// bridge: What is asked of the process beside the isolate: lists that are small in an isolate alone, and salts that each block hashes again.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const ASKS = `
  const crypto = process.getBuiltinModule('crypto');
  const zlib = process.getBuiltinModule('zlib');
  const row = new Array(1000).fill({}), all = new Array(4000).fill(row);
  const asks = [
    () => crypto.pbkdf2Sync('p', 's', all, 20, 'sha1'),
    () => zlib.deflateSync('p', { params: { 1: all } }),
    () => crypto.pbkdf2Sync('p', new Uint8Array(4e6), 1, 40000, 'sha1'),
    () => crypto.scryptSync('p', new Uint8Array(8e6), 32, { N: 2, r: 256, p: 1 }),
    () => crypto.scryptSync('p', 's', 1e6, { N: 2, r: 2 ** 18, p: 1, maxmem: 2 ** 30 }),
    () => crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']).then((key) =>
      crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: new Uint8Array(2e6), iterations: 1 }, key, 65536)),
  ];
  const refused = [];
  for (const ask of asks) try { await ask(); refused.push('done') } catch (error) { refused.push(error.message) }
  this.$emit(refused);`;

it('is refused before it takes the process, which goes on', async () => {
  // To write the lists takes the isolate seconds of its own.
  await world.limit({ runCpuMs: 60_000 });
  const ran = await world.unharmed(() => world.attack(ASKS, { timeoutMs: 60_000 }));
  expect(ran.error).toBeUndefined();
  expect(ran.events).toEqual([
    [
      expect.stringContaining('too many'),
      expect.stringContaining('too many'),
      expect.stringContaining('salt'),
      expect.stringContaining('salt'),
      expect.stringContaining('too long'),
      expect.stringContaining('salt'),
    ],
  ]);
});
