// limits: Ciphers that encrypt a block for each bit, on megabytes, and RSA keys whose exponent few primes fit.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are refused with what can be done at once, and go on below it', async () => {
  const emitted = await emitsOf(
    world,
    `const { createCipheriv, generateKeyPairSync, getCiphers } = process.getBuiltinModule('crypto');
const sizes = { 1: 70_000, 8: 1_050_000 };
const said = new Set();
for (const name of getCiphers()) {
  const [, bits] = /cfb-?([18])$/i.exec(name) ?? [];
  if (bits === undefined) continue;
  const key = new Uint8Array(/^des/.test(name) ? (name.includes('ede3') ? 24 : name.includes('ede') ? 16 : 8) : Number(/\\d{3}/.exec(name)?.[0]) / 8 || 16);
  const iv = new Uint8Array(/^des/.test(name) ? 8 : 16);
  const encrypt = (size) => createCipheriv(name, key, iv).update(new Uint8Array(size));
  try { encrypt(sizes[bits]); said.add(name); } catch (error) { said.add(error.limit.name + ': ' + error.message); }
  encrypt(100);
}
const exponents = [];
for (const publicExponent of [15015, 4, 65535]) try { generateKeyPairSync('rsa', { modulusLength: 512, publicExponent }); } catch (error) { exponents.push(error.message); }
generateKeyPairSync('rsa', { modulusLength: 512, publicExponent: 3 });
this.$emit([...said].sort());
this.$emit(exponents);`,
  );
  expect(emitted).toEqual([
    [
      'maxCfb1StreamBytes: A stream of a cipher in CFB1 mode has 70 000 bytes; the limit maxCfb1StreamBytes is 65 536 bytes',
      'maxCfb8StreamBytes: A stream of a cipher in CFB8 mode has 1 050 000 bytes; the limit maxCfb8StreamBytes is 1 048 576 bytes',
    ],
    Array(3).fill('publicExponent must be 3, 17, or an odd number of at least 65537'),
  ]);
});
