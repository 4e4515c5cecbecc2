import { errors } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { accountLimits, LIMITS } from '@headwater/shared';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { failExchange } from '../../../engine/src/egress/fetch-failure.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { startReceiver } from '../../support/receiver.ts';

test('headers of an answer that are too large name their limit', async () => {
  const { url, script, stop } = await startReceiver();
  onTestFinished(stop);
  const guest = createGuestFetch({ egress: createEgress({ allow: ['127.0.0.0/8'], deniedPorts: () => [] }) });
  onTestFinished(guest.stop);
  script({ headers: { 'x-long': 'x'.repeat(20_000) } });
  const outcome = await guest.fetch(
    { id: 'o_1', limits: accountLimits() },
    { url, method: 'GET', headers: [], redirect: 'follow' },
    new AbortController().signal,
  );
  const { maxFetchResponseHeaderBytes: value } = LIMITS;
  const limit = { name: 'maxFetchResponseHeaderBytes', value, used: value + 1 };
  expect(outcome).toMatchObject({ ok: false, limit, message: expect.stringMatching(/too large/) });
});

test('a connection that is not accepted in time names the limit', () => {
  const { connectTimeoutMs: value } = LIMITS;
  const failed = { kind: 'error', error: new errors.ConnectTimeoutError() } as const;
  const outcome = failExchange('a.example', failed, accountLimits(), { tookMs: value, heldBytes: 0 });
  const limit = { name: 'connectTimeoutMs', value, used: value + 1 };
  const [message, plain] = ['a.example', 'The receiver'].map((who) => `${who} did not accept a connection in time`);
  expect(outcome).toEqual({ ok: false, code: 'UND_ERR_CONNECT_TIMEOUT', message, plain, limit });
});
