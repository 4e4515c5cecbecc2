import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fc } from '../../support/properties.ts';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import {
  createSecret,
  messageId,
  publicKeyOf,
  readSecret,
  signatures,
} from '../../../engine/src/outbox/transports/webhook/sign.ts';
import { USER_AGENT } from '../../../engine/src/egress/user-agent.ts';

const nowSeconds = () => Math.floor(Date.now() / 1_000);

function headersOf(keys: KeyObject[], body: string) {
  const id = messageId('dc_1vZ8kQ0aB3xYpL9mWc2T', 1_606_511_826_306, 0);
  const timestampSeconds = nowSeconds();
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures(keys, { id, timestampSeconds, body: Buffer.from(body) }),
  };
}

test('any body is accepted by the reference library with the secret that the owner was shown', () => {
  fc.assert(
    fc.property(fc.json(), fc.string({ unit: 'binary' }), (json, more) => {
      const secret = createSecret();
      const body = `${json}${JSON.stringify(more)}`;
      const text = JSON.stringify([body]);
      expect(new Webhook(secret).verify(text, headersOf([readSecret(secret)], text))).toEqual([body]);
    }),
    { numRuns: 50 },
  );
});

test('a changed body, time, id or secret is not accepted', () => {
  const secret = createSecret();
  const headers = headersOf([readSecret(secret)], '{"a":1}');
  const webhook = new Webhook(secret);
  expect(() => webhook.verify('{"a":2}', headers)).toThrow(/signature/i);
  expect(() => webhook.verify('{"a":1}', { ...headers, 'webhook-timestamp': String(nowSeconds() + 1) })).toThrow(
    /signature/i,
  );
  expect(() => webhook.verify('{"a":1}', { ...headers, 'webhook-id': 'evt_x' })).toThrow(/signature/i);
  expect(() => new Webhook(createSecret()).verify('{"a":1}', headers)).toThrow(/signature/i);
});

test('with several secrets a receiver that knows any one of them accepts', () => {
  const secrets = [createSecret(), createSecret()];
  const headers = headersOf(secrets.map(readSecret), '{}');
  for (const secret of secrets) expect(new Webhook(secret).verify('{}', headers)).toEqual({});
});

test('the id of a message is the same for each attempt, differs between events and emitters, and holds no dot', () => {
  const id = messageId('dc_abc', 1_606_511_826_306, 7);
  expect(id).toBe('evt_abc_1606511826306_7');
  expect(new Set([id, messageId('dc_abc', 1_606_511_826_306, 8), messageId('dc_abd', 1_606_511_826_306, 7)]).size).toBe(
    3,
  );
});

test.each([
  '',
  'whsec_',
  'whsec_AAAA',
  `whsec_${Buffer.alloc(65).toString('base64')}`,
  Buffer.alloc(32).toString('base64'),
  'whsec_****************************************',
])('%j is no secret', (secret) => {
  expect(() => readSecret(secret)).toThrow(RangeError);
});

test('requests say the version of this package', () => {
  const path = new URL('../../../engine/package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string };
  expect(USER_AGENT).toBe(`Headwater/${version}`);
});

/** Verifies as the specification describes it, with the public key only. */
function isSignedWith(publicKey: string, headers: ReturnType<typeof headersOf>, body: string): boolean {
  const raw = Buffer.from(publicKey.slice('whpk_'.length), 'base64');
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  const signed = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
  return headers['webhook-signature']
    .split(' ')
    .some((one) => one.startsWith('v1a,') && verify(null, signed, key, Buffer.from(one.slice(4), 'base64')));
}

test('v1a signs as the other implementations of the specification do', () => {
  const secret = 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==';
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampSeconds: 1_614_265_330, body: '{"test": 2432232314}' };
  expect(publicKeyOf(secret)).toBe('whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=');
  expect(signatures([readSecret(secret)], message)).toBe(
    'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
  );
  const seed = Buffer.from(secret.slice(5), 'base64').subarray(0, 32);
  expect(publicKeyOf(`whsk_${seed.toString('base64')}`)).toBe(publicKeyOf(secret));
});

test('a v1a signature is good for its public key, body, time and id alone', () => {
  const secrets = [createSecret('v1a'), createSecret('v1a')] as const;
  const headers = headersOf([readSecret(secrets[0])], '{"a":1}');
  const [publicKey, other] = secrets.map((secret) => publicKeyOf(secret) ?? '') as [string, string];
  expect(isSignedWith(publicKey, headers, '{"a":1}')).toBe(true);
  expect(isSignedWith(other, headers, '{"a":1}')).toBe(false);
  expect(isSignedWith(publicKey, headers, '{"a":2}')).toBe(false);
  expect(isSignedWith(publicKey, { ...headers, 'webhook-id': 'evt_other' }, '{"a":1}')).toBe(false);
  expect(isSignedWith(publicKey, { ...headers, 'webhook-timestamp': '1' }, '{"a":1}')).toBe(false);
});

test('with a secret and a private key, receivers of either kind accept it', () => {
  const [secret, key] = [createSecret(), createSecret('v1a')];
  const headers = headersOf([readSecret(key), readSecret(secret)], '{}');
  expect(new Webhook(secret).verify('{}', headers)).toEqual({});
  expect(isSignedWith(publicKeyOf(key) ?? '', headers, '{}')).toBe(true);
});

test.each(['whsk_', 'whsk_AAAA', `whsk_${Buffer.alloc(64).toString('base64')}`, `whsk_${'!'.repeat(44)}`])(
  'no private key: %s',
  (secret) => {
    expect(() => readSecret(secret)).toThrow(RangeError);
  },
);
