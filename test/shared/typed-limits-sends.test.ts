import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../engine/src/contract/engine.ts';
import { LIMITS } from '../../shared/src/index.ts';
import { createSendWorld, type SendNode, type SendWorld } from '../support/send-world.ts';

let world: SendWorld;
let node: SendNode;
let who: Principal;

beforeAll(async () => {
  world = await createSendWorld();
  node = await world.node({ mail: { smtpUrl: 'smtp://127.0.0.1:1', from: 'Headwater <no-reply@headwater.example>' } });
  who = await world.account({ email: 'ada@example.com' });
});
afterAll(() => world.stop());

type Name = keyof typeof LIMITS;

const url = 'https://receiver.example/';
const over = (name: Name) => 'a'.repeat(LIMITS[name] + 1);

const form = (data: unknown) => ({ url, data, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
/** As many characters as JSON. */
const objectOf = (chars: number) => ({ a: 'a'.repeat(chars - '{"a":""}'.length) });
/** The characters of a name, by the entries of its list, are one too many. */
const listUnderName = () => ({ ['a'.repeat(17)]: Array<number>((LIMITS.maxSendFormNameChars + 1) / 17).fill(1) });

const PAYLOADS: [name: Name, kind: 'http' | 'email' | 's3', payload: unknown][] = [
  ['maxUrlHostChars', 'http', { url: `https://${over('maxUrlHostChars')}/` }],
  ['maxFetchUrlChars', 'http', { url, params: { [over('maxFetchUrlChars')]: 'a' } }],
  ['maxFetchHeaderBytes', 'http', { url, headers: { [over('maxFetchHeaderBytes')]: 'a' } }],
  ['maxFetchHeaders', 'http', { url, headers: { a: Array.from({ length: LIMITS.maxFetchHeaders + 1 }, () => 'b') } }],
  ['maxSendHeadChars', 'http', { url, params: objectOf(LIMITS.maxSendHeadChars + 1 - JSON.stringify(url).length) }],
  ['maxSendHeadChars', 'email', { subject: 'a'.repeat(LIMITS.maxSendHeadChars - 1), text: 'a' }],
  ['maxSendFormChars', 'http', form(objectOf(LIMITS.maxSendFormChars + 1))],
  ['maxSendFormNameChars', 'http', form(listUnderName())],
  ['maxEmailSubjectChars', 'email', { subject: over('maxEmailSubjectChars'), text: 'a' }],
  ['maxEmailBytes', 'email', { subject: 'a', text: 'a'.repeat(LIMITS.maxEmailBytes) }],
  ['maxS3PrefixChars', 's3', { bucket: 'bucket', prefix: over('maxS3PrefixChars'), payload: 1 }],
  ['maxS3PrefixChars', 's3', { bucket: 'bucket', prefix: over('maxUrlChars').repeat(2), payload: 1 }],
];

test.each(PAYLOADS)('a send that goes over %s fails with the limit', async (name, kind, payload) => {
  const [id = ''] = await world.send(who, kind, [payload]);
  await node.runner.runLane(who);
  const { status, attempts } = await world.ended(id);
  const value = LIMITS[name];
  expect({ status, limits: attempts.map(({ limit }) => limit) }).toEqual({
    status: 'failed',
    limits: [{ name, value, used: value + 1 }],
  });
});

test('a send with a prefix that is no prefix fails without one', async () => {
  const [id = ''] = await world.send(who, 's3', [{ bucket: 'bucket', prefix: 'a\\b', payload: 1 }]);
  const { attempts } = await world.ended(id);
  expect(attempts).toMatchObject([{ error: expect.stringContaining('prefix must be') }]);
  expect(attempts[0]).not.toHaveProperty('limit');
});

const SETTINGS = { region: 'eu-central-1', accessKeyId: 'a', secretAccessKey: 'b' };

test.each<[name: Name, path: string, changed: Partial<typeof SETTINGS>]>([
  ['maxS3RegionChars', 'region', { region: over('maxS3RegionChars') }],
  ['maxS3CredentialChars', 'access_key_id', { accessKeyId: over('maxS3CredentialChars') }],
  ['maxS3CredentialChars', 'secret_access_key', { secretAccessKey: over('maxS3CredentialChars') }],
])('S3 settings that go over %s with their %s are refused with the limit', async (name, path, changed) => {
  const value = LIMITS[name];
  await expect(node.sends.setS3(who, { ...SETTINGS, ...changed })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    fields: [{ path, message: `must have at most ${value} characters` }],
    limit: { name, value, used: value + 1 },
  });
});

test('S3 settings that are only malformed are refused without one', async () => {
  for (const changed of [{ region: '' }, { region: 'EU' }, { accessKeyId: 'a b' }, { secretAccessKey: '' }]) {
    await expect(node.sends.setS3(who, { ...SETTINGS, ...changed })).rejects.toMatchObject({ limit: undefined });
  }
});
