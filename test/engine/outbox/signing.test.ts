import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fc } from '../../support/properties.ts';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createSecret, messageId, readSecret, signatures } from '../../../engine/src/outbox/deliveries/sign.ts';
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
