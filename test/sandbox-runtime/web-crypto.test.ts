import { createHash, type webcrypto } from 'node:crypto';
import { expect, test } from 'vitest';
import { sameAsNode } from '../support/same-as-node.ts';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const runBoth = sameAsNode();
const sandbox = sandboxForFile();

test('twenty megabytes that no two bytes of are equal side by side are hashed', async () => {
  const { outcome, host } = await sandbox.run(
    withRun(`const data = new Uint8Array(20_000_000);
    for (let i = 0; i < data.length; i++) data[i] = i;
    this.$emit([...new Uint8Array(await crypto.subtle.digest('SHA-256', data))]);`),
  );
  const data = new Uint8Array(20_000_000);
  for (let i = 0; i < data.length; i++) data[i] = i;
  expect(outcome).toMatchObject({ ok: true });
  expect(host.data()).toEqual([[...createHash('sha256').update(data).digest()]]);
});

test('operations without randomness give the bytes that Node gives', async () => {
  const { guest, node } = await runBoth({
    digest: async () => {
      const data = new TextEncoder().encode('data');
      const all = ['SHA-1', 'sha-256', { name: 'SHA-384' }, 'SHA-512'];
      return await Promise.all(all.map(async (name) => [...new Uint8Array(await crypto.subtle.digest(name, data))]));
    },
    hmac: async () => {
      const algorithm = { name: 'HMAC', hash: 'SHA-256' };
      const key = await crypto.subtle.importKey('raw', new Uint8Array(32), algorithm, false, ['sign', 'verify']);
      const data = new Uint8Array([1, 2]);
      const signature = await crypto.subtle.sign('HMAC', key, data);
      const right = await crypto.subtle.verify('HMAC', key, signature, data);
      const wrong = await crypto.subtle.verify('HMAC', key, new Uint8Array(32), data);
      return [[...new Uint8Array(signature)], right, wrong, key.type, key.extractable, key.algorithm, key.usages];
    },
    aes: async () => {
      const results: unknown[] = [];
      for (const algorithm of [
        { name: 'AES-GCM', iv: new Uint8Array(12), additionalData: new Uint8Array(3), tagLength: 128 },
        { name: 'AES-CBC', iv: new Uint8Array(16) },
        { name: 'AES-CTR', counter: new Uint8Array(16), length: 64 },
      ]) {
        const key = await crypto.subtle.importKey('raw', new Uint8Array(16), algorithm.name, true, [
          'encrypt',
          'decrypt',
        ]);
        const cipher = await crypto.subtle.encrypt(algorithm, key, new Uint8Array([7, 8, 9]));
        const plain = await crypto.subtle.decrypt(algorithm, key, cipher);
        results.push([...new Uint8Array(cipher)], [...new Uint8Array(plain)]);
      }
      return results;
    },
    derived: async () => {
      const password = new TextEncoder().encode('password');
      const salt = new Uint8Array(8);
      const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits', 'deriveKey']);
      const algorithm = { name: 'PBKDF2', salt, iterations: 1000, hash: 'SHA-256' };
      const bits = await crypto.subtle.deriveBits(algorithm, key, 256);
      const aes = await crypto.subtle.deriveKey(algorithm, key, { name: 'AES-GCM', length: 256 }, true, ['encrypt']);
      const material = await crypto.subtle.importKey('raw', password, 'HKDF', false, ['deriveBits']);
      const info = new Uint8Array(2);
      const expanded = await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-512', salt, info }, material, 128);
      return [
        ...[bits, await crypto.subtle.exportKey('raw', aes), expanded].map((b) => [...new Uint8Array(b)]),
        aes.algorithm,
      ];
    },
    jwk: async () => {
      const jwk = { kty: 'oct', k: 'AAECAwQFBgcICQoLDA0ODw', alg: 'A128GCM', ext: true };
      const key = await crypto.subtle.importKey('jwk', jwk, 'AES-GCM', true, ['encrypt']);
      return await crypto.subtle.exportKey('jwk', key);
    },
    notExtractable: async () => {
      const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', false, ['encrypt']);
      return await crypto.subtle.exportKey('raw', key);
    },
    wrongUse: async () => {
      const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', false, ['encrypt']);
      return await crypto.subtle.decrypt({ name: 'AES-CBC', iv: new Uint8Array(16) }, key, new Uint8Array(16));
    },
    tampered: async () => {
      const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', false, ['decrypt']);
      return await crypto.subtle.decrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, key, new Uint8Array(32));
    },
    badUsage: async () => crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', false, ['sign']),
    unknown: async () => crypto.subtle.digest('MD5', new Uint8Array(1)),
    tooMuchRandomness: () => crypto.getRandomValues(new Uint8Array(65_537)),
    floats: () => crypto.getRandomValues(new Float32Array(1) as unknown as Uint8Array<ArrayBuffer>),
  });
  expect(guest).toEqual(node);
});

test('keys of every kind are made, exported, imported again and do their work', async () => {
  const { guest, node } = await runBoth({
    signatures: async () => {
      const data = new Uint8Array([1, 2, 3]);
      const results: unknown[] = [];
      const rsa = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
      for (const [made, used] of [
        [
          { name: 'ECDSA', namedCurve: 'P-256' },
          { name: 'ECDSA', hash: 'SHA-256' },
        ],
        [{ name: 'Ed25519' }, { name: 'Ed25519' }],
        [{ name: 'RSASSA-PKCS1-v1_5', ...rsa }, { name: 'RSASSA-PKCS1-v1_5' }],
        [
          { name: 'RSA-PSS', ...rsa },
          { name: 'RSA-PSS', saltLength: 32 },
        ],
      ] satisfies [object, object][]) {
        const uses = ['sign', 'verify'] as webcrypto.KeyUsage[];
        const pair = (await crypto.subtle.generateKey(
          made as webcrypto.EcKeyGenParams,
          true,
          uses,
        )) as webcrypto.CryptoKeyPair;
        const pkcs8 = await crypto.subtle.exportKey('pkcs8', pair.privateKey);
        const spki = await crypto.subtle.exportKey('spki', pair.publicKey);
        const own = await crypto.subtle.importKey('pkcs8', pkcs8, made as webcrypto.EcKeyImportParams, false, ['sign']);
        const other = await crypto.subtle.importKey('spki', spki, made as webcrypto.EcKeyImportParams, true, [
          'verify',
        ]);
        const signature = await crypto.subtle.sign(used as webcrypto.EcdsaParams, own, data);
        const right = await crypto.subtle.verify(used as webcrypto.EcdsaParams, other, signature, data);
        const wrong = await crypto.subtle.verify(used as webcrypto.EcdsaParams, other, signature, new Uint8Array(3));
        const { kty, d } = await crypto.subtle.exportKey('jwk', pair.publicKey);
        results.push([own.algorithm.name, own.type, other.usages, right, wrong, kty, d === undefined]);
      }
      return results;
    },
    agreed: async () => {
      const make = async () =>
        await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-384' }, false, ['deriveBits']);
      const [one, two] = [await make(), await make()];
      const first = await crypto.subtle.deriveBits({ name: 'ECDH', public: two.publicKey }, one.privateKey, 384);
      const second = await crypto.subtle.deriveBits({ name: 'ECDH', public: one.publicKey }, two.privateKey, 384);
      return String(new Uint8Array(first)) === String(new Uint8Array(second));
    },
    wrapped: async () => {
      const rsa = { name: 'RSA-OAEP', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
      const pair = await crypto.subtle.generateKey(rsa, false, ['wrapKey', 'unwrapKey', 'encrypt', 'decrypt']);
      const key = await crypto.subtle.importKey('raw', new Uint8Array(16).fill(3), 'AES-KW', true, [
        'wrapKey',
        'unwrapKey',
      ]);
      const wrapped = await crypto.subtle.wrapKey('raw', key, pair.publicKey, { name: 'RSA-OAEP' });
      const again = await crypto.subtle.unwrapKey(
        'raw',
        wrapped,
        pair.privateKey,
        { name: 'RSA-OAEP' },
        'AES-KW',
        true,
        ['wrapKey'],
      );
      return [[...new Uint8Array(await crypto.subtle.exportKey('raw', again))], again.usages];
    },
    random: () => {
      const values = crypto.getRandomValues(new Uint8Array(64));
      return [
        new Set(values).size > 8,
        /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(crypto.randomUUID()),
      ];
    },
  });
  expect(guest).toEqual(node);
});

test('arguments are copied when a method is called', async () => {
  const { host } = await sandbox.run(
    withRun(`
      const data = new Uint8Array([1, 2, 3]);
      const digest = crypto.subtle.digest('SHA-256', data);
      data.fill(0);
      this.$emit(Buffer.from(await digest).toString('hex'));`),
  );
  expect(host.data()).toEqual([
    createHash('sha256')
      .update(new Uint8Array([1, 2, 3]))
      .digest('hex'),
  ]);
});

test('operations that would block the process are refused, and the rest counts as time of the run', async () => {
  const { host } = await sandbox.run(
    withRun(`
      const names = [];
      const tell = (e) => names.push(e.name);
      const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']);
      const pbkdf2 = (iterations) => ({ name: 'PBKDF2', salt: new Uint8Array(8), iterations, hash: 'SHA-256' });
      await crypto.subtle.deriveBits(pbkdf2(2 ** 31), key, 256).catch(tell);
      await crypto.subtle.deriveBits(pbkdf2(1), key, 2 ** 30).catch(tell);
      const rsa = { name: 'RSA-PSS', modulusLength: 16384, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
      await crypto.subtle.generateKey(rsa, true, ['sign']).catch(tell);
      await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256', length: 2 ** 31 }, true, ['sign']).catch(tell);
      const other = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveKey']);
      await crypto.subtle.deriveKey(pbkdf2(10_000_000), other, { name: 'HMAC', hash: 'SHA-1', length: 65_536 }, true, ['sign']).catch(tell);
      const much = Array.from({ length: 9 }, () => crypto.subtle.digest('SHA-1', new Uint8Array(8e6)));
      const settled = await Promise.allSettled(much);
      this.$emit([names, new Set(settled.map((one) => one.reason?.name ?? 'done'))].map((all) => [...all]));`),
  );
  expect(host.data()).toEqual([[Array(5).fill('OperationError'), ['done', 'OperationError']]]);
  const endless = await sandbox.run(
    withRun(`
      const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']);
      const algorithm = { name: 'PBKDF2', salt: new Uint8Array(8), iterations: 100_000, hash: 'SHA-256' };
      for (;;) await crypto.subtle.deriveBits(algorithm, key, 256);`),
    { cpuMs: 300, wallMs: 20_000 },
  );
  expect(endless.outcome).toMatchObject({ ok: false, fault: { code: 'CPU_LIMIT' } });
});
