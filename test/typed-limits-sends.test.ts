import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../engine/src/contract.ts';
import { LIMITS } from '../shared/src/index.ts';
import { createSendWorld, type SendNode, type SendWorld } from './support/send-world.ts';

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

const PAYLOADS: [name: Name, kind: 'http' | 'email' | 's3', payload: unknown][] = [
  ['maxUrlHostChars', 'http', { url: `https://${over('maxUrlHostChars')}/` }],
  ['maxFetchUrlChars', 'http', { url, params: { [over('maxFetchUrlChars')]: 'a' } }],
  ['maxFetchHeaderBytes', 'http', { url, headers: { [over('maxFetchHeaderBytes')]: 'a' } }],
  ['maxFetchHeaders', 'http', { url, headers: { a: Array.from({ length: LIMITS.maxFetchHeaders + 1 }, () => 'b') } }],
  ['maxEmailSubjectChars', 'email', { subject: over('maxEmailSubjectChars'), text: 'a' }],
  ['maxEmailBytes', 'email', { subject: 'a', text: 'a'.repeat(LIMITS.maxEmailBytes) }],
  ['maxS3PrefixChars', 's3', { bucket: 'bucket', prefix: over('maxS3PrefixChars'), payload: 1 }],
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
