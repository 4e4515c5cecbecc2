import { createCipheriv, createHash, generateKeyPairSync, type KeyObject, pbkdf2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

// limits: Keys of huge numbers in each form there is: PKCS #8, the older PEMs, encrypted ones,
// JSON Web Keys, and those for crypto.subtle.
describe('costly-keys', () => {
  const world = hostile();
  const PASSPHRASE = 'open';

  const value = (tag: number, ...parts: Uint8Array[]): Buffer => {
    const bytes = Buffer.concat(parts);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([Buffer.from([tag, 0x84]), length, bytes]);
  };
  const sequence = (...parts: Uint8Array[]) => value(0x30, ...parts);
  const oid = (hex: string) => value(0x06, Buffer.from(hex, 'hex'));
  const octets = (bytes: Uint8Array) => value(0x04, bytes);
  const bits = (bytes: Uint8Array) => value(0x03, Buffer.from([0]), bytes);
  /** An odd number of this length in bits. */
  const odd = (length: number) => Buffer.alloc(Math.ceil(length / 8), 0x7f);
  const number = (length: number) => value(0x02, odd(length));
  const small = (byte: number) => value(0x02, Buffer.from([byte]));

  const DSA = '2a8648ce380401';
  const DH = '2a864886f70d010301';
  const RSA = '2a864886f70d010101';
  const EC = '2a8648ce3d0201';
  const P256 = oid('2a8648ce3d030107');
  const pkcs8 = (id: string, parameters: Buffer, key: Buffer) =>
    sequence(small(0), sequence(oid(id), parameters), octets(key));
  const spki = (id: string, parameters: Buffer, key: Buffer) => sequence(sequence(oid(id), parameters), bits(key));
  const group = (p: number, q: number) => sequence(number(p), number(q), small(2));
  const rsaNumbers = (...lengths: number[]) => sequence(small(0), ...lengths.map(number));
  const rsaPkcs8 = (numbers: Buffer) => pkcs8(RSA, value(0x05), numbers);
  /** As they are for a modulus of 2 048 bits, but for one. */
  const rsaWith = (at: number, length: number) => {
    const lengths = [2_048, 17, 2_048, 1_024, 1_024, 1_024, 1_024, 1_024];
    lengths[at] = length;
    return rsaNumbers(...lengths);
  };
  /** A curve of its own with a field of 20 000 bits. */
  const CURVE = sequence(
    small(1),
    sequence(oid('2a8648ce3d0101'), number(20_000)),
    sequence(octets(odd(20_000)), octets(odd(20_000))),
    octets(Buffer.from([4, ...odd(20_000), ...odd(20_000)])),
    number(20_000),
  );
  const LARGE_DSA = pkcs8(DSA, group(30_000, 256), number(30_000));

  const pem = (label: string, der: Buffer, headers = '') =>
    Buffer.from(
      `-----BEGIN ${label}-----\n${headers}${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`,
    );
  const encrypt = (key: Buffer, iv: Buffer, der: Buffer) => {
    const cipher = createCipheriv('aes-256-cbc', key, iv);
    return Buffer.concat([cipher.update(der), cipher.final()]);
  };
  /** With PBES2, in one round. */
  const encrypted = (der: Buffer) => {
    const [salt, iv] = [Buffer.alloc(8, 1), Buffer.alloc(16, 2)];
    const derivation = sequence(oid('2a864886f70d01050c'), sequence(octets(salt), small(1)));
    const algorithm = sequence(derivation, sequence(oid('60864801650304012a'), octets(iv)));
    const data = encrypt(pbkdf2Sync(PASSPHRASE, salt, 1, 32, 'sha1'), iv, der);
    return sequence(sequence(oid('2a864886f70d01050d'), algorithm), octets(data));
  };
  const oldEncrypted = (label: string, der: Buffer) => {
    const iv = Buffer.alloc(16, 2);
    const hash = (...parts: Uint8Array[]) => createHash('md5').update(Buffer.concat(parts)).digest();
    const secret = Buffer.concat([Buffer.from(PASSPHRASE), iv.subarray(0, 8)]);
    const first = hash(secret);
    const data = encrypt(Buffer.concat([first, hash(first, secret)]), iv, der);
    return pem(label, data, `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,${iv.toString('hex')}\n\n`);
  };
  const oldDsa = sequence(small(0), number(30_000), number(256), small(2), small(3), number(30_000));
  const scryptOfLongSalt = sequence(
    sequence(
      oid('2a864886f70d01050d'),
      sequence(
        sequence(
          oid('2b06010401da47040b'),
          sequence(octets(Buffer.alloc(12_000)), small(2), small(1), value(0x02, Buffer.from([0x08, 0, 0]))),
        ),
        sequence(oid('60864801650304012a'), octets(Buffer.alloc(16))),
      ),
    ),
    octets(Buffer.alloc(64)),
  );

  type Input = [input: object, key: Buffer];
  const der = (type: string, key: Buffer): Input => [{ format: 'der', type }, key];
  const locked = (input: object, key: Buffer): Input => [{ ...input, passphrase: PASSPHRASE }, key];
  const jwk = (key: object): Input => [{ format: 'jwk' }, Buffer.from(JSON.stringify(key))];
  const number64 = (length: number) => odd(length).toString('base64url');
  const rsaJwk = (changed: object) => ({
    kty: 'RSA',
    n: number64(2_048),
    e: 'AQAB',
    d: number64(2_048),
    ...Object.fromEntries(['p', 'q', 'dp', 'dq', 'qi'].map((name) => [name, number64(1_024)])),
    ...changed,
  });

  const REFUSED =
    /at most \d+ (bits|bytes) here|takes? too long|cannot be read|not supported in the sandbox|by its name/;
  const HOSTILE: Record<string, Input> = {
    'DSA with an exponent without end': der('pkcs8', LARGE_DSA),
    'DSA with a long prime alone': der('pkcs8', pkcs8(DSA, group(60_000, 256), number(512))),
    'DSA said to be PKCS #1': der('pkcs1', LARGE_DSA),
    'DSA as PEM': [{}, pem('PRIVATE KEY', LARGE_DSA)],
    'DSA as PEM of EC': [{}, pem('EC PRIVATE KEY', LARGE_DSA)],
    'DSA in the older form': [{}, pem('DSA PRIVATE KEY', oldDsa)],
    'DSA in the older form, encrypted': locked({}, oldEncrypted('DSA PRIVATE KEY', oldDsa)),
    'DSA as PKCS #8 in the older form, encrypted': locked({}, oldEncrypted('RSA PRIVATE KEY', LARGE_DSA)),
    'DSA, encrypted': locked({ format: 'der', type: 'pkcs8' }, encrypted(LARGE_DSA)),
    'DSA, encrypted, as PEM': locked({}, pem('ENCRYPTED PRIVATE KEY', encrypted(LARGE_DSA))),
    'DSA of more bytes than a key has': der('pkcs8', pkcs8(DSA, group(200_000, 256), number(200_000))),
    'DH with an exponent without end': der('pkcs8', pkcs8(DH, sequence(number(30_000), small(2)), number(30_000))),
    'RSA with a long modulus': der('pkcs8', rsaPkcs8(rsaWith(0, 20_000))),
    'RSA with a long public exponent': der('pkcs8', rsaPkcs8(rsaWith(1, 2_048))),
    'RSA with a long private exponent': der('pkcs8', rsaPkcs8(rsaWith(2, 20_000))),
    'RSA with a long prime': der('pkcs8', rsaPkcs8(rsaWith(3, 2_000))),
    'RSA with a long exponent of a prime': der('pkcs1', rsaWith(5, 2_000)),
    'RSA with a long coefficient': [{}, pem('RSA PRIVATE KEY', rsaWith(7, 2_000))],
    'RSA of many primes': der(
      'pkcs1',
      sequence(small(1), number(2_048), ...Array.from({ length: 7 }, () => number(700)), sequence()),
    ),
    'a curve of its own': der('pkcs8', pkcs8(EC, CURVE, sequence(small(1), octets(odd(20_000))))),
    'a curve of its own inside': der('sec1', sequence(small(1), octets(odd(256)), value(0xa0, CURVE))),
    'a long number on a curve': der('pkcs8', pkcs8(EC, P256, sequence(small(1), octets(odd(100_000))))),
    'millions of values': locked(
      { format: 'der', type: 'pkcs8' },
      sequence(Buffer.alloc(8_000_000, Buffer.from([5, 0]))),
    ),
    'thousands of values': locked({ format: 'der', type: 'pkcs8' }, sequence(Buffer.alloc(8_000, Buffer.from([5, 0])))),
    'an unknown algorithm': der('pkcs8', pkcs8('2a864886f70d010107', value(0x05), rsaWith(0, 2_048))),
    'scrypt with a long salt': locked({ format: 'der', type: 'pkcs8' }, scryptOfLongSalt),
    'JWK with a long exponent': jwk(rsaJwk({ d: number64(100_000) })),
    'JWK with a long prime': jwk(rsaJwk({ p: number64(2_000) })),
  };
  const HOSTILE_PUBLIC: Record<string, Input> = {
    DSA: der('spki', spki(DSA, group(60_000, 256), number(60_000))),
    DH: der('spki', spki(DH, sequence(number(60_000), small(2)), number(60_000))),
    RSA: der('spki', spki(RSA, value(0x05), sequence(number(16_000), small(3)))),
    'RSA as PKCS #1': [{}, pem('RSA PUBLIC KEY', sequence(number(16_000), small(3)))],
    'a curve of its own': der('spki', spki(EC, CURVE, odd(600))),
    'RSA in a certificate': [
      {},
      pem(
        'CERTIFICATE',
        sequence(
          sequence(
            small(1),
            ...Array.from({ length: 4 }, () => sequence()),
            spki(RSA, value(0x05), sequence(number(16_000), small(3))),
          ),
        ),
      ),
    ],
  };

  /** The long ones as what they are made of, since code has a size. */
  const texts = (inputs: Record<string, Input>) =>
    JSON.stringify(
      Object.entries(inputs).map(([name, [input, key]]) =>
        key.length < 100_000
          ? [name, input, key.toString('base64'), 0, '']
          : [name, input, key.subarray(0, 12).toString('base64'), key.length, key.subarray(-12).toString('base64')],
      ),
    );
  const READ = `const bytesOf = (start, length, end) => {
  if (length === 0) return Buffer.from(start, 'base64');
  const bytes = Buffer.alloc(length, Buffer.from([5, 0]));
  Buffer.from(start, 'base64').copy(bytes); Buffer.from(end, 'base64').copy(bytes, length - 12);
  return bytes;
};
const attempt = (name, make) => { try { make(); return [name, 'used']; } catch (error) { return [name, error.message]; } };`;

  const open = (inputs: Record<string, Input>, makers: string) =>
    emitsOf(
      world,
      `const crypto = process.getBuiltinModule('crypto');
${READ}
for (const [name, input, ...parts] of ${texts(inputs)}) for (const make of ${makers}) {
  const bytes = bytesOf(...parts);
  this.$emit(attempt(name, () => crypto[make]({ ...input, key: input.format === 'jwk' ? JSON.parse(bytes) : bytes })));
}`,
    );
  const each = (inputs: object, times: number) =>
    Object.keys(inputs).flatMap((name) => Array.from({ length: times }, () => [name, expect.stringMatching(REFUSED)]));

  it('private keys are refused before OpenSSL has them', async () => {
    expect(await open(HOSTILE, `['createPrivateKey', 'createPublicKey']`)).toEqual(each(HOSTILE, 2));
  });

  it('JSON Web Keys of megabytes are not read', async () => {
    const said = await emitsOf(
      world,
      `const { createPrivateKey } = process.getBuiltinModule('crypto');
${READ}
for (const key of [{ kty: 'RSA', n: 'x'.repeat(8_000_000) }, { kty: 'RSA', list: Array(100_000).fill({}) }])
  this.$emit(attempt('JWK', () => createPrivateKey({ key, format: 'jwk' })));`,
    );
    expect(said).toEqual(Array.from({ length: 2 }, () => ['JWK', expect.stringMatching(REFUSED)]));
  });

  it('public keys are refused too', async () => {
    expect(await open(HOSTILE_PUBLIC, `['createPublicKey']`)).toEqual(each(HOSTILE_PUBLIC, 1));
  });

  it('crypto.subtle refuses them in each form and however they come', async () => {
    const long = rsaPkcs8(rsaWith(3, 2_000));
    const keys = {
      pkcs8: rsaPkcs8(rsaNumbers(16_000, 17, 16_000, 8_000, 8_000, 8_000, 8_000, 8_000)),
      spki: spki(RSA, value(0x05), sequence(number(16_000), small(3))),
      jwk: Buffer.from(JSON.stringify(rsaJwk({ n: number64(16_000), d: number64(16_000) }))),
    };
    const said = await emitsOf(
      world,
      `const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
const aes = { name: 'AES-GCM', iv: new Uint8Array(12) };
const wrapping = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', true, ['encrypt', 'unwrapKey']);
const tell = (name, made) => made.then(() => [name, 'made'], (error) => [name, error.name, error.message]);
for (const [format, text] of ${JSON.stringify(Object.entries(keys).map(([name, key]) => [name, key.toString('base64')]))}) {
  const bytes = Buffer.from(text, 'base64');
  const uses = [format === 'spki' ? 'verify' : 'sign'];
  this.$emit(await tell(format, crypto.subtle.importKey(format, format === 'jwk' ? JSON.parse(bytes) : bytes, algorithm, true, uses)));
  const wrapped = await crypto.subtle.encrypt(aes, wrapping, bytes);
  this.$emit(await tell(format, crypto.subtle.unwrapKey(format, wrapped, wrapping, aes, algorithm, true, uses)));
}
this.$emit(await tell('a long prime', crypto.subtle.importKey('pkcs8', Buffer.from('${long.toString('base64')}', 'base64'), algorithm, true, ['sign'])));`,
    );
    const refused = (name: string) => [name, 'DataError', expect.stringMatching(REFUSED)];
    expect(said).toEqual([
      ...['pkcs8', 'spki', 'jwk'].flatMap((name) => [refused(name), refused(name)]),
      refused('a long prime'),
    ]);
  });

  /** A key of P-256 with PBE-SHA1-3DES of PKCS #12, made by OpenSSL. */
  const PKCS12 = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGxMBwGCiqGSIb3DQEMAQMwDgQIbtj1JDXBM50CAggABIGQi9pG7MRh6r3E6+B4
Dh1GC8VPOzD3Ep476MIrTGEJULQhyzfBOMM6BiP1K4H+vNdbVr6dBVFH++hRgQl7
bjZioqnj9XN+9gpnJO4Ckg1DxtbI86yXuz9XZK2h6IxGioqlUQ7mxEeMIOT38FvZ
LP7tJt9YJNuHXtAVRcrq+CEmVuKL91hwjIMQJhJ9i7pKz4/9
-----END ENCRYPTED PRIVATE KEY-----
`;

  it('keys as they are made are used', async () => {
    const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
    const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
    // The types of Node know neither the options of PSS nor named groups.
    const pssOptions = { modulusLength: 1024, hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha256', saltLength: 32 };
    const make = generateKeyPairSync as (type: string, options: object) => { privateKey: KeyObject };
    const made: Record<string, KeyObject> = {
      'RSA 1024': rsa(1024),
      'RSA 1030': rsa(1030),
      'RSA-PSS': make('rsa-pss', pssOptions).privateKey,
      'DSA 2048': generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }).privateKey,
      'DH group 14': make('dh', { group: 'modp14' }).privateKey,
      ...Object.fromEntries(['P-256', 'P-384', 'P-521', 'secp256k1'].map((curve) => [curve, ec(curve)])),
      Ed25519: generateKeyPairSync('ed25519').privateKey,
      Ed448: generateKeyPairSync('ed448').privateKey,
      X25519: generateKeyPairSync('x25519').privateKey,
      'ML-DSA-87': generateKeyPairSync('ml-dsa-87').privateKey,
    };
    const cipher = { cipher: 'aes-256-cbc', passphrase: PASSPHRASE };
    const inputs: Record<string, Input> = { 'PKCS #12': locked({}, Buffer.from(PKCS12)) };
    for (const [name, key] of Object.entries(made)) {
      inputs[`${name} as DER`] = der('pkcs8', key.export({ format: 'der', type: 'pkcs8' }));
      inputs[`${name} as PEM`] = [{}, Buffer.from(key.export({ format: 'pem', type: 'pkcs8' }))];
      inputs[`${name}, encrypted`] = locked({}, Buffer.from(key.export({ format: 'pem', type: 'pkcs8', ...cipher })));
      if (!/^(RSA-PSS|DSA|DH)/.test(name)) inputs[`${name} as JWK`] = jwk(key.export({ format: 'jwk' }));
      const old = /^RSA \d/.test(name) ? 'pkcs1' : /^(P-|secp)/.test(name) ? 'sec1' : undefined;
      if (old === undefined) continue;
      inputs[`${name} in the older form`] = [{}, Buffer.from(key.export({ format: 'pem', type: old }))];
      inputs[`${name} in the older form, encrypted`] = locked(
        {},
        Buffer.from(key.export({ format: 'pem', type: old, ...cipher })),
      );
    }
    const said = await emitsOf(
      world,
      `const crypto = process.getBuiltinModule('crypto');
${READ}
const data = Buffer.from('x');
for (const [name, input, ...parts] of ${texts(inputs)}) this.$emit(attempt(name, () => {
  const bytes = bytesOf(...parts);
  const given = { ...input, key: input.format === 'jwk' ? JSON.parse(bytes) : bytes };
  const [key, other] = [crypto.createPrivateKey(given), crypto.createPublicKey(given)];
  const form = { format: 'pem', type: 'spki' };
  if (crypto.createPublicKey(other.export(form)).export(form) !== other.export(form)) throw new Error('another');
  if (/^(X|DH)/.test(name)) { if (crypto.diffieHellman({ privateKey: key, publicKey: other }).length < 32) throw new Error('short'); return; }
  const hash = /^(Ed|ML)/.test(name) ? null : 'sha256';
  if (!crypto.verify(hash, data, other, crypto.sign(hash, data, key))) throw new Error('not verified');
}));`,
    );
    expect(said).toEqual(Object.keys(inputs).map((name) => [name, 'used']));
  });
});
