import type { FetchOutcome } from '@headwater/sandbox-runtime';
import { accountLimits, LIMITS } from '@headwater/shared';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAskProvider, type ProviderRequest } from '../../../engine/src/connections/provider-request.ts';
import { exchangeCode, type OAuthParty, refreshTokens } from '../../../engine/src/connections/token-endpoint.ts';
import { validateFields } from '../../../engine/src/connections/validate-credentials.ts';
import { createAnonymousLookups } from '../../../engine/src/fairness/anonymous-lookups.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';

/** Reading the whole of it takes hundreds. */
const MAX_TURN_MS = 60;

const party: OAuthParty = {
  accountId: 'o_1',
  oauth: {
    authorizeUrl: 'https://provider.example/authorize',
    tokenUrl: 'https://provider.example/token',
    scopes: [],
    pkce: true,
    tokenAuth: 'body',
  },
  client: { owner: 'o_1', clientId: 'us', clientSecret: 'client-secret-0123456789' },
  fields: {},
};
const flow = { code: 'the-code-of-this-flow', redirectUri: 'https://here.example/oauth/callback' };

/** A provider with a fixed answer. */
function asking(outcome: FetchOutcome) {
  const limits = { get: async () => accountLimits() };
  return createAskProvider({ fetch: async () => outcome, limits } as unknown as Parameters<
    typeof createAskProvider
  >[0]);
}

function answered(body: Uint8Array | string, contentType: string): FetchOutcome {
  const url = 'https://provider.example/';
  const headers: [string, string][] = [['content-type', contentType]];
  const rest = { status: 200, statusText: 'OK', headers, url, redirected: false };
  return { ok: true, ...rest, body: Buffer.from(body) } as FetchOutcome;
}

const json = (value: unknown) => asking(answered(JSON.stringify(value), 'application/json'));
const form = (body: Uint8Array | string) => asking(answered(body, 'application/x-www-form-urlencoded'));

const check: ProviderRequest = { method: 'GET', url: new URL('https://provider.example/me') };

test('a form is read of a token endpoint alone, and only a short one', async () => {
  const tokens = 'access_token=a-token-1&scope=one+two&expires_in=3600';
  const granted = await exchangeCode(form(tokens), party, flow);
  expect(granted).toMatchObject({ ok: true, grant: { accessToken: 'a-token-1', scopes: ['one', 'two'] } });
  expect(await form(tokens)('o_1', check)).toEqual({ ok: true, status: 200, body: {} });
  const atMost = tokens.padEnd(LIMITS.maxProviderFormBytes, '&');
  expect((await exchangeCode(form(atMost), party, flow)).ok).toBe(true);
  expect(await exchangeCode(form(`${atMost}&`), party, flow)).toMatchObject({
    ok: false,
    fault: { kind: 'unavailable', message: 'provider.example answered 200' },
  });
});

test('a form of as many bytes as an answer may have does not hold the thread', async () => {
  const parts = Buffer.alloc(LIMITS.maxProviderAnswerBytes, Buffer.from([0xff, 0x26]));
  const ask = form(parts);
  const longestMs = await longestTurnMs(async () => {
    await ask('o_1', check);
    await exchangeCode(ask, party, flow);
    // The last piece is measured as well.
    await sleep(5);
  });
  expect(longestMs).toBeLessThan(MAX_TURN_MS * slowness());
});

test('the limit that an answer goes over is the one that holds for it', async () => {
  const limit = { name: 'maxFetchResponseBytes', value: 262_144, used: 300_000 } as const;
  const large = asking({ ok: false, message: 'The response is larger than 262144 bytes', limit });
  expect(await exchangeCode(large, party, flow)).toEqual({
    ok: false,
    fault: {
      kind: 'unavailable',
      message: 'The response is larger than 262144 bytes (maxProviderAnswerBytes)',
      limit: { ...limit, name: 'maxProviderAnswerBytes' },
    },
  });
  const slow = { name: 'fetchTimeoutMs', value: 15_000, used: 15_000 } as const;
  expect(await asking({ ok: false, message: 'Slow', limit: slow })('o_1', check)).toMatchObject({
    limit: { name: 'providerTimeoutMs', value: LIMITS.providerTimeoutMs },
  });
  const turn = { name: 'maxConnections', value: 5, used: 6 } as const;
  expect(await asking({ ok: false, message: 'Waited', limit: turn })('o_1', check)).toMatchObject({ limit: turn });
});

test.each(['access_token', 'refresh_token'])(
  'one %s that is too long is said to be, and not asked for again',
  async (name) => {
    const tokens = { access_token: 'a-token', refresh_token: 'another', expires_in: 3600 };
    const longest = { ...tokens, [name]: 'x'.repeat(LIMITS.maxOAuthTokenChars) };
    expect((await refreshTokens(json(longest), party, 'before')).ok).toBe(true);
    const longer = { ...tokens, [name]: 'x'.repeat(LIMITS.maxOAuthTokenChars + 1) };
    expect(await refreshTokens(json(longer), party, 'before')).toEqual({
      ok: false,
      fault: {
        kind: 'refused',
        message: `provider.example gave a token (${name}) of 16385 characters; at most 16384 are kept (maxOAuthTokenChars)`,
        limit: { name: 'maxOAuthTokenChars', value: 16_384, used: 16_385 },
      },
    });
  },
);

test('a token that no header can hold is not asked for again', async () => {
  expect(await refreshTokens(json({ access_token: 'x\r\nhost: evil' }), party, 'before')).toMatchObject({
    ok: false,
    fault: { kind: 'refused', message: expect.stringContaining('no header') },
  });
});

test('credentials that are too long name the limit', () => {
  const app = { slug: 'keyed', name: 'Keyed', authType: 'keys', fields: [{ name: 'key', label: 'Key' }] } as const;
  const value = LIMITS.maxCredentialsBytes;
  expect(validateFields(app, { key: 'x'.repeat(value) }, 'credentials')).toHaveProperty('key');
  expect(() => validateFields(app, { key: 'x'.repeat(value + 1) }, 'credentials')).toThrow(
    expect.objectContaining({ limit: { name: 'maxCredentialsBytes', value, used: value + 1 } }),
  );
  expect(() => validateFields(app, {}, 'credentials')).toThrow(expect.objectContaining({ limit: undefined }));
});

test('a link that waited in vain names the limit', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const inTurn = createAnonymousLookups();
  const looks = [inTurn(() => held), inTurn(() => held)];
  const { timeout } = AbortSignal;
  const waits: number[] = [];
  try {
    // The time is over at once.
    AbortSignal.timeout = (ms) => {
      waits.push(ms);
      return AbortSignal.abort();
    };
    await expect(inTurn(async () => 'late')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      limit: { name: 'maxRequestWaitMs', value: LIMITS.maxRequestWaitMs, used: LIMITS.maxRequestWaitMs },
    });
    expect(waits).toEqual([LIMITS.maxRequestWaitMs]);
  } finally {
    AbortSignal.timeout = timeout;
    release();
    await Promise.all(looks);
  }
});
