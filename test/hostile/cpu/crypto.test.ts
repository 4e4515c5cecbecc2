import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT, emitsOf } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

// limits: Private keys encrypted with billions of rounds, in each form there is, and RSA keys too
// large to be used in time.
describe('encrypted-keys', () => {
  const world = hostile();
  const PASSPHRASE = 'open';

  const value = (tag: number[], ...parts: Uint8Array[]): Buffer => {
    const bytes = Buffer.concat(parts);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([Buffer.from([...tag, 0x84]), length, bytes]);
  };
  const sequence = (...parts: Buffer[]) => value([0x30], ...parts);
  const oid = (hex: string) => value([0x06], Buffer.from(hex, 'hex'));
  const octets = (bytes: number) => value([0x04], Buffer.alloc(bytes, 7));
  /** OpenSSL takes none with a byte too many. */
  const integer = (number: number | bigint) => {
    const digits = number.toString(16);
    const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
    return value([0x02], (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([Buffer.from([0]), bytes]));
  };

  const ROUNDS = 2 ** 31 - 1;
  const AES_256_CBC = sequence(oid('60864801650304012a'), octets(16));
  const HMAC_SHA512 = sequence(oid('2a864886f70d020b'), value([0x05]));
  const encrypted = (algorithm: Buffer) => sequence(algorithm, octets(64));
  const pbes2 = (derivation: Buffer) => sequence(oid('2a864886f70d01050d'), sequence(derivation, AES_256_CBC));
  const pbkdf2 = (rounds: number, ...more: Buffer[]) =>
    sequence(oid('2a864886f70d01050c'), sequence(octets(8), integer(rounds), ...more));
  const scrypt = (...parameters: number[]) =>
    sequence(oid('2b06010401da47040b'), sequence(octets(8), ...parameters.map(integer)));
  const LONG = encrypted(pbes2(pbkdf2(ROUNDS)));
  const pem = (label: string, der: Buffer, headers = '') =>
    Buffer.from(
      `-----BEGIN ${label}-----\n${headers}${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`,
    );

  const DERS: Record<string, Buffer> = {
    'PBKDF2 of SHA-1': LONG,
    'PBKDF2 of SHA-512': encrypted(pbes2(pbkdf2(4_000_000, integer(32), HMAC_SHA512))),
    'scrypt, many at once': encrypted(pbes2(scrypt(2, 8, 2 ** 25))),
    'scrypt, of many rounds': encrypted(pbes2(scrypt(2 ** 22, 1, 1))),
    'PKCS #12 with Triple DES': encrypted(sequence(oid('2a864886f70d010c0103'), sequence(octets(8), integer(ROUNDS)))),
    'PKCS #5 with DES': encrypted(sequence(oid('2a864886f70d010503'), sequence(octets(8), integer(ROUNDS)))),
    'a number of rounds without end': encrypted(
      pbes2(sequence(oid('2a864886f70d01050c'), sequence(octets(8), integer(2n ** 400n)))),
    ),
    'a tag in its long form': value(
      [0x30],
      value([0x3f, 0x10], oid('2a864886f70d01050d'), sequence(pbkdf2(ROUNDS), AES_256_CBC)),
      octets(64),
    ),
    'data in pieces': sequence(pbes2(pbkdf2(ROUNDS)), value([0x24], octets(32), octets(32))),
  };
  const PEMS: Record<string, Buffer> = {
    'a PEM': pem('ENCRYPTED PRIVATE KEY', LONG),
    'a PEM of one that is not encrypted': pem('PRIVATE KEY', LONG),
    'a PEM with a NUL in its label': pem('PRIVATE KEY\0X', LONG),
    'a PEM with headers': pem(
      'PRIVATE KEY',
      LONG,
      'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00000000000000000000000000000000\n\n',
    ),
    'a PEM after another': Buffer.concat([pem('CERTIFICATE', octets(8)), pem('ENCRYPTED PRIVATE KEY', LONG)]),
  };
  const texts = (keys: Record<string, Buffer>) =>
    JSON.stringify(Object.entries(keys).map(([name, key]) => [name, key.toString('base64')]));

  const REFUSED = /rounds of|take too long|cannot be read|unsupported/;

  it('each is refused before it is opened', async () => {
    const refused = await emitsOf(
      world,
      `const { createPrivateKey, createPublicKey } = process.getBuiltinModule('crypto');
const open = (name, make, input) => { try { make({ ...input, passphrase: '${PASSPHRASE}' }); return [name, 'opened']; } catch (error) { return [name, error.message]; } };
for (const [name, text] of ${texts(DERS)}) this.$emit(open(name, createPrivateKey, { key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' }));
for (const [name, text] of ${texts(PEMS)}) for (const make of [createPrivateKey, createPublicKey]) this.$emit(open(name, make, { key: Buffer.from(text, 'base64'), format: 'pem' }));`,
    );
    const names = [...Object.keys(DERS), ...Object.keys(PEMS).flatMap((name) => [name, name])];
    expect(refused).toEqual(names.map((name) => [name, expect.stringMatching(REFUSED)]));
  });

  it('keys that are encrypted as usual are opened', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const of = (cipher: string, type: 'pkcs8' | 'pkcs1' = 'pkcs8') =>
      Buffer.from(privateKey.export({ format: 'pem', type, cipher, passphrase: PASSPHRASE }));
    const keys = {
      'AES as PKCS #8': of('aes-256-cbc'),
      'Triple DES as PKCS #8': of('des-ede3-cbc'),
      'AES in the older form': of('aes-128-cbc', 'pkcs1'),
      'not encrypted': Buffer.from(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    };
    const opened = await emitsOf(
      world,
      `const { createPrivateKey, createPublicKey } = process.getBuiltinModule('crypto');
for (const [name, text] of ${texts(keys)}) for (const make of [createPrivateKey, createPublicKey])
  this.$emit([name, make({ key: Buffer.from(text, 'base64'), passphrase: '${PASSPHRASE}' }).asymmetricKeyType]);`,
    );
    expect(opened).toEqual(
      Object.keys(keys).flatMap((name) => [
        [name, 'rsa'],
        [name, 'rsa'],
      ]),
    );
  });

  it('an RSA key with a modulus of twenty thousand bits is not used', async () => {
    const odd = (bytes: number) => BigInt(`0xc1${randomBytes(bytes - 2).toString('hex')}01`);
    const [p, q, d] = [odd(1_250), odd(1_250), odd(2_499)];
    const rsaKey = (...numbers: bigint[]) => {
      const rsa = sequence(integer(0), ...numbers.map(integer));
      return sequence(integer(0), sequence(oid('2a864886f70d010101'), value([0x05])), value([0x04], rsa));
    };
    const keys = {
      whole: rsaKey(p * q, 65_537n, d, p, q, d % (p - 1n), d % (q - 1n), odd(1_249)),
      'without its factors': rsaKey(p * q, 65_537n, d, 3n, 5n, 1n, 1n, 1n),
    };
    const said = await emitsOf(
      world,
      `const { createPrivateKey, sign } = process.getBuiltinModule('crypto');
const use = (key) => sign('sha256', Buffer.from('x'), key);
for (const [name, text] of ${texts(keys)}) try {
  const key = createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
  try { use(key); } catch {}
  use(key);
  this.$emit([name, 'signed']);
} catch (error) { this.$emit([name, error.message]); }`,
    );
    expect(said).toEqual([
      ['whole', 'A key of RSA may have a modulus of at most 8192 bits here, not 20000'],
      ['without its factors', 'A key of RSA may have a modulus of at most 8192 bits here, not 20000'],
    ]);
  });
});

// limits: Making RSA keys in a loop.
describe('rsa-keys', () => {
  const world = hostile();

  it("the time of the process around the isolate is counted as the run's", async () => {
    const ran = await attackCpu(
      world,
      `const { generateKeyPairSync } = process.getBuiltinModule('crypto');
for (;;) generateKeyPairSync('rsa', { modulusLength: 2048 });`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: PBKDF2 in a loop: the work is done by the process around the isolate.
describe('pbkdf2', () => {
  const world = hostile();

  it("the time of that process is counted as the run's", async () => {
    const ran = await attackCpu(
      world,
      `const { pbkdf2Sync } = process.getBuiltinModule('crypto');
for (;;) pbkdf2Sync('password', 'salt', 500_000, 32, 'sha512');`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: PBKDF2 through crypto.subtle, many calls at once: they are worked out on other threads.
describe('pbkdf2-beside-the-isolate', () => {
  const world = hostile();

  it("the time of those threads is counted as the run's", async () => {
    const ran = await attackCpu(
      world,
      `const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']);
const order = { name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(8), iterations: 300_000 };
for (;;) await Promise.all(Array.from({ length: 20 }, () => crypto.subtle.deriveBits(order, key, 512)));`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: scrypt in a loop: the work is done by the process around the isolate.
describe('scrypt', () => {
  const world = hostile();

  it("the time of that process is counted as the run's", async () => {
    const ran = await attackCpu(
      world,
      `const { scryptSync } = process.getBuiltinModule('crypto');
for (;;) scryptSync('password', 'salt', 64, { N: 16384, r: 8, p: 1 });`,
    );
    expect(ran.error).toMatchObject(CPU_LIMIT);
  });
});

// limits: Ciphers that encrypt a block for each bit, on megabytes, and RSA keys whose exponent few
// primes fit.
describe('ciphers-bit-by-bit', () => {
  const world = hostile();

  it('are refused with the largest size, and work below it', async () => {
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
});
