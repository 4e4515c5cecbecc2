// bridge: Stacks and messages of every kind of error that the platform makes, errors of the process around the isolate among them.
import { expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('none has a path, a module of Node or the name of the library in it', async () => {
  const emitted = await emitsOf(
    world,
    `const texts = [];
const collect = async (act) => { try { await act(); texts.push('no error: ' + act); } catch (error) { texts.push([error.name, error.message, error.stack, String(error.cause?.stack)].join('\\n')); } };
Error.stackTraceLimit = 100;
const { createHash, createCipheriv, createPrivateKey, sign, scryptSync } = process.getBuiltinModule('crypto');
const { gunzipSync, brotliDecompressSync } = process.getBuiltinModule('zlib');
const fs = process.getBuiltinModule('fs');
await collect(() => crypto.getRandomValues(new Uint8Array(1e6)));
await collect(() => fetch('http://127.0.0.1:1/'));
await collect(() => fetch('file:///etc/passwd'));
await collect(() => this.db.get({}));
await collect(() => this.db.get('x'.repeat(5000)));
await collect(() => new TextDecoder('utf-32'));
await collect(() => new URL('http://'));
await collect(() => crypto.subtle.digest('MD4', new Uint8Array(1)));
await collect(() => crypto.subtle.importKey('pkcs8', new Uint8Array(9), { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']));
await collect(() => createHash('nope'));
await collect(() => createHash({}));
await collect(() => createCipheriv('aes-256-gcm', 'short', 'iv'));
await collect(() => createPrivateKey('-----BEGIN PRIVATE KEY-----\\nAAAA\\n-----END PRIVATE KEY-----'));
await collect(() => sign('nope', 'x', 'no key'));
await collect(() => scryptSync('a', 'b', 64, { N: 2 ** 30, r: 8, p: 1 }));
await collect(() => gunzipSync('no gzip'));
await collect(() => brotliDecompressSync('no brotli'));
await collect(() => fs.readFileSync('/etc/passwd'));
await collect(() => fs.readFileSync('/proc/self/environ'));
await collect(() => process.exit(1));
await collect(() => process.getBuiltinModule('child_process').execSync('id'));
await collect(() => new Function("return import('node:fs')")());
await collect(() => new ArrayBuffer(1e12));
await collect(() => this.$emit({}, 1));
const leaks = texts.filter((text) => /file:\\/|node:internal|node_modules|isolated-vm|sandbox-runtime|process-main|\\/work|\\/root|\\/home|\\/usr|no error/.test(text));
this.$emit([texts.length, leaks]);`,
  );
  expect(emitted).toEqual([[24, []]]);
});
