import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fc } from '../../support/properties.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addRandomKey, fixedKeys, loadMasterKeys } from '../../../engine/src/secrets/master-key.ts';
import { createSealer, SealError } from '../../../engine/src/secrets/seal.ts';

const newKey = (id: string) => ({ id, key: randomBytes(32) });
/** Made before the form was changed, with a key of 32 times 7. */
const FIRST_FORM =
  'v1.e5b8d7f4a1c2.7QzzS69NQeWw4wITMmuTqNvyNupulcwlYpfDAu8nRnLwYoUQiS6Ij7GV7UW3ciSap6f5sjlR8J8sadq7hrfjfm3MKB8Z3hD8zNKWQgrJdB63ZDwCy0ZRYoI5y2lNeS-bOA';
const bodyOf = (sealed: string) => Buffer.from(sealed.split('.')[2] ?? '', 'base64url').subarray(60);
const sealer = createSealer(fixedKeys([newKey('one')]));

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'headwater-secrets-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

test('sealed text opens for the same account, for any text', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 });
  fc.assert(
    fc.property(text, text, (accountId, plaintext) => {
      expect(sealer.open(accountId, sealer.seal(accountId, plaintext))).toBe(plaintext);
    }),
  );
});

test('a sealed text does not open for another account', () => {
  const sealed = sealer.seal('o_a', 'whsec_secret');
  expect(() => sealer.open('o_b', sealed)).toThrow(SealError);
  expect(() => sealer.open('o_b', sealed)).toThrow(expect.objectContaining({ fault: 'not-authentic' }));
});

test('no change of a sealed text goes unnoticed', () => {
  const sealed = sealer.seal('o_a', 'whsec_secret');
  const [version, keyId, body] = sealed.split('.') as [string, string, string];
  const bytes = Buffer.from(body, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const text = `${version}.${keyId}.${changed.toString('base64url')}`;
    expect(() => sealer.open('o_a', text)).toThrow(expect.objectContaining({ fault: 'not-authentic' }));
  }
  const cut = `${version}.${keyId}.${bytes.subarray(0, -1).toString('base64url')}`;
  expect(() => sealer.open('o_a', cut)).toThrow(expect.objectContaining({ fault: 'not-authentic' }));
  for (const text of ['', 'v1', 'plain text', `v3.${keyId}.${body}`, `${sealed}.x`, `${version}.${keyId}.AAAA`]) {
    expect(() => sealer.open('o_a', text)).toThrow(expect.objectContaining({ fault: 'malformed' }));
  }
});

test('sealing twice gives two texts, and neither shows the secret', () => {
  const texts = [sealer.seal('o_a', 'whsec_secret'), sealer.seal('o_a', 'whsec_secret')];
  expect(new Set(texts).size).toBe(2);
  for (const text of texts) {
    expect(text).toMatch(/^v2\.one\.[A-Za-z0-9_-]+$/);
    expect(Buffer.from(text.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('whsec_secret');
  }
});

test('after a change of the master key old texts open and new ones are sealed with the new key', () => {
  const [old, young] = [newKey('old'), newKey('young')];
  const sealed = createSealer(fixedKeys([old])).seal('o_a', 'kept');
  const both = createSealer(fixedKeys([young, old]));
  expect(both.open('o_a', sealed)).toBe('kept');
  expect(both.seal('o_a', 'x')).toMatch(/^v2\.young\./);
  expect(() => createSealer(fixedKeys([young])).open('o_a', sealed)).toThrow(
    expect.objectContaining({ fault: 'unknown-key' }),
  );
  const impostor = createSealer(fixedKeys([newKey('old')]));
  expect(() => impostor.open('o_a', sealed)).toThrow(expect.objectContaining({ fault: 'not-authentic' }));
});

test('rewrapping keeps the sealed secret and changes the key, also of a text of the first form', () => {
  const [old, young] = [newKey('old'), newKey('young')];
  const sealed = createSealer(fixedKeys([old])).seal('o_a', 'kept');
  const rotating = createSealer(fixedKeys([young, old]));
  const rewrapped = rotating.rewrap('o_a', sealed);
  expect(rewrapped.startsWith(rotating.currentPrefix())).toBe(true);
  expect(createSealer(fixedKeys([young])).open('o_a', rewrapped)).toBe('kept');
  // The secret itself was not sealed again: what follows the wrapped data key is as it was.
  expect(bodyOf(rewrapped)).toEqual(bodyOf(sealed));
  expect(() => rotating.rewrap('o_b', sealed)).toThrow(expect.objectContaining({ fault: 'not-authentic' }));

  const first = createSealer(fixedKeys([{ id: 'e5b8d7f4a1c2', key: Buffer.alloc(32, 7) }, young]));
  expect(first.open('o_a', FIRST_FORM)).toBe('whsec_old');
  expect(first.open('o_a', first.rewrap('o_a', FIRST_FORM))).toBe('whsec_old');
  expect(first.rewrap('o_a', FIRST_FORM)).toMatch(/^v2\./);
});

test('a running node takes up a key that is put into the file, and keeps the old one for opening', async () => {
  const { keys, file = '' } = await loadMasterKeys({ dataDir, embedded: true });
  const running = createSealer(keys);
  const before = running.seal('o_a', 'kept');
  await addRandomKey(file);
  const after = running.seal('o_a', 'new');
  expect(after.split('.')[1]).not.toBe(before.split('.')[1]);
  expect([running.open('o_a', before), running.open('o_a', after)]).toEqual(['kept', 'new']);
  const [, old] = (await readFile(file, 'utf8')).trim().split('\n');
  const onlyOld = createSealer((await loadMasterKeys({ dataDir, embedded: true, encryptionKey: old ?? '' })).keys);
  expect(onlyOld.open('o_a', before)).toBe('kept');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('without a configured key a random one is made once and kept for its owner alone', async () => {
  const first = await loadMasterKeys({ dataDir, embedded: true });
  const second = await loadMasterKeys({ dataDir, embedded: true });
  expect(second.keys.current()).toEqual(first.keys.current());
  expect(first.warning).toBeUndefined();
  expect((await stat(path.join(dataDir, 'encryption-key'))).mode & 0o777).toBe(0o600);
  expect(await readFile(path.join(dataDir, 'encryption-key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
});

test('processes that start together get the same generated key', async () => {
  const loaded = await Promise.all(Array.from({ length: 8 }, () => loadMasterKeys({ dataDir, embedded: true })));
  expect(new Set(loaded.map((each) => each.keys.current().key.toString('hex'))).size).toBe(1);
});

test('with a database of many nodes a generated key comes with a warning', async () => {
  const { warning } = await loadMasterKeys({ dataDir, embedded: false });
  expect(warning).toContain('HEADWATER_ENCRYPTION_KEY');
});

test('hex and base64 of the same bytes are the same key; a passphrase gives the same key everywhere', async () => {
  const bytes = randomBytes(32);
  const load = async (encryptionKey: string) =>
    (await loadMasterKeys({ encryptionKey, dataDir, embedded: false })).keys.current();
  const keys = await Promise.all([
    load(bytes.toString('hex')),
    load(bytes.toString('hex').toUpperCase()),
    load(bytes.toString('base64')),
    load(` ${bytes.toString('base64url')}\n`),
  ]);
  for (const key of keys) expect(key).toEqual(keys[0]);
  expect(keys[0]?.key).toEqual(bytes);
  const phrase = 'correct horse battery staple';
  expect(await load(phrase)).toEqual(await load(phrase));
  expect((await load(phrase)).id).not.toBe((await load(`${phrase}!`)).id);
});

test('a short encryption key is refused', async () => {
  await expect(loadMasterKeys({ encryptionKey: 'hunter2', dataDir, embedded: true })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining('at least 20 characters'),
  });
});
