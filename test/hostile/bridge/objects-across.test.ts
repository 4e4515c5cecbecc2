// bridge: Objects where text or bytes cross, put there by patched built-ins: half a gigabyte of texts, and a nest that doubles with each level.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it.each([
  ['many long texts', `Array(5000).fill('x'.repeat(1e5))`],
  [
    'a nest',
    `(() => { let nest = ['x']; for (let n = 0; n < 26; n++) nest = [nest, nest]; return Array(5000).fill(nest); })()`,
  ],
])('%s are looked at before they are copied', async (_what, made) => {
  const emitted = await emitsOf(
    world,
    `const given = ${made};
String.prototype.toWellFormed = () => given;
const encoded = new TextEncoder().encode('x');
this.$emit(encoded instanceof Uint8Array);`,
  );
  expect(emitted).toEqual([false]);
});

it('bytes where a number or a name stands are refused', async () => {
  const emitted = await emitsOf(
    world,
    `const data = new Uint8Array(20_000_000);
for (let i = 0; i < data.length; i++) data[i] = i;
const said = [];
for (const algorithm of [{ name: 'AES-CBC', length: data }, { name: 'HMAC', hash: 'SHA-256', length: data }, { name: data }])
  try { await crypto.subtle.generateKey(algorithm, true, ['encrypt']); said.push('made'); } catch (error) { said.push(error.message); }
this.$emit(said);`,
  );
  expect(emitted).toEqual([Array(3).fill('Bytes stand where none can be')]);
});
