import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { askUserinfo, proofOf } from '../../../engine/src/connections/ask-userinfo.ts';
import type { AskProvider, ProviderRequest } from '../../../engine/src/connections/provider-request.ts';
import { exchangeCode, type OAuthParty, refreshTokens } from '../../../engine/src/connections/token-endpoint.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

/** Getting ready for them in one piece takes twice as much and more. */
const MAX_TURN_MS = 40;
const CLIENT_SECRET = 'GOCSPX-operators/Secret+of=the-client';

const oauth = {
  authorizeUrl: 'https://provider.example/authorize',
  tokenUrl: 'https://provider.example/token',
  userinfoUrl: 'https://provider.example/me',
  scopes: [],
  pkce: true,
  tokenAuth: 'body',
} as const;
const party: OAuthParty = {
  accountId: 'o_1',
  oauth,
  client: { owner: 'o_1', clientId: 'us', clientSecret: CLIENT_SECRET },
  fields: {},
};
const redirectUri = 'https://here.example/oauth/callback';

/** A provider whose error repeats part of the request. */
function repeating(words: (request: ProviderRequest) => string): AskProvider {
  return async (_, request) => ({
    ok: true,
    status: 400,
    body: { error: 'invalid_grant', error_description: words(request) },
  });
}

const formOf = ({ body }: ProviderRequest) => new URLSearchParams(body?.values).toString();

async function faultOf(code: string, words: (request: ProviderRequest) => string, asked = party): Promise<string> {
  const outcome = await exchangeCode(repeating(words), asked, { code, redirectUri, verifier: 'verifier-0123456789' });
  return outcome.ok ? '' : outcome.fault.message;
}

it('a code that is a part of everything does not change how a secret looks', async () => {
  const said = await faultOf('e', () => `client_secret ${CLIENT_SECRET} is not yours`);
  expect(said).toBe('provider.example answered 400: invalid_grant, client_secret [secret:client_secret] is not yours');
});

it('a code that ends within a secret does not leave the rest of it', async () => {
  const said = await faultOf('secret=GOCSPX', () => `client_secret=${CLIENT_SECRET}`);
  expect(said).toBe('provider.example answered 400: invalid_grant, client_secret=[secret:client_secret]');
});

it('a secret is found at each place before the text is cut', async () => {
  for (let length = 240; length < 300; length++) {
    const said = await faultOf('c'.repeat(120), () => `${'.'.repeat(length)}${CLIENT_SECRET}`);
    expect([length, said.includes('GOC')]).toEqual([length, false]);
  }
});

it('a secret is found in a form, a URL, JSON and a header that are repeated', async () => {
  const code = 'code/of+this=flow';
  for (const words of [
    formOf,
    (request: ProviderRequest) => JSON.stringify(request.body?.values),
    ({ body }: ProviderRequest) => encodeURIComponent(`${body?.values['client_secret']} ${body?.values['code']}`),
  ]) {
    const said = await faultOf(code, words);
    expect(said).toContain('[secret:client_secret]');
    for (const part of ['GOCSPX', 'code/of', 'code%2Fof', 'verifier-01']) expect(said).not.toContain(part);
  }
  const basic = { ...party, oauth: { ...oauth, tokenAuth: 'basic' } } as OAuthParty;
  const said = await faultOf(code, ({ headers }) => headers?.['authorization'] ?? '', basic);
  expect(said).toContain('[secret:client_secret]');
  const tail = said.replace(/^.*Basic /, '');
  expect(Buffer.from(tail, 'base64').toString()).not.toContain('Secret');
});

it('a refresh token is not repeated', async () => {
  const token = 'refresh/token+0123456789==';
  const outcome = await refreshTokens(repeating(formOf), party, token);
  expect(outcome).toMatchObject({ ok: false, fault: { message: expect.stringContaining('[secret:refresh_token]') } });
  expect(JSON.stringify(outcome)).not.toContain('0123456789');
});

it('why a user endpoint refuses does not tell the token', async () => {
  const token = 'xoxb-0123456789-abcdefghij';
  const said =
    (error: string): AskProvider =>
    async () => ({ ok: true, status: 200, body: { ok: false, error } });
  const ask = (error: string) =>
    askUserinfo(said(error), party, token, [{ name: '$auth.oauth_access_token', value: token }]);
  expect(await ask(`invalid auth token ${token}`)).toEqual({
    kind: 'refused',
    detail: 'provider.example answered 200: invalid auth token [secret:$auth.oauth_access_token]',
  });
  // The text of the placeholder is not evidence of the cause.
  expect(await ask(`no such channel ${token}`)).toMatchObject({ kind: 'unclear' });
  for (let length = 60; length < 100; length += 3) {
    const { detail } = await ask(`${'.'.repeat(length)}${token}`);
    expect([length, detail.includes('xoxb')]).toEqual([length, false]);
  }
  const answer = { ok: true, status: 200, body: { ok: false, description: 'token_revoked' } } as const;
  expect(await proofOf('provider.example', answer, [])).toMatchObject({ kind: 'refused' });
});

let headwater: Headwater;
let service: Receiver;
beforeAll(async () => {
  [headwater, service] = await Promise.all([startHeadwater(), startReceiver()]);
});
afterAll(async () => {
  await service.stop();
  await headwater.stop();
});

it('a check neither stores nor shows the key that a provider repeats', async () => {
  const key = 'key-0123456789-abcdefghij';
  await headwater.admin('POST', '/apps', {
    name_slug: 'repeating',
    name: 'Repeating',
    auth_type: 'keys',
    fields: [{ name: 'api_key', label: 'Key' }],
    test: { url: `${service.url}/me`, auth: { type: 'bearer', token: '{{api_key}}' } },
  });
  service.answer = ({ headers }) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ok: false, error: `invalid auth token ${headers.authorization?.slice('Bearer '.length)}` }),
  });
  const credentials = { api_key: key };
  const { data } = await headwater.api('POST', '/connected_accounts', { app: 'repeating', credentials });
  const checked = await headwater.api('POST', `/connected_accounts/${data.id}/check`);
  expect(checked.data).toMatchObject({ dead: true, check: { detail: expect.stringContaining('invalid auth token') } });
  expect(checked.text).not.toContain(key);
  const [row] = await headwater.sql`select reason from connected_accounts where id = ${data.id}`;
  expect(row?.['reason']).toContain('[secret:$auth.api_key]');
  expect(row?.['reason']).not.toContain(key);
});

it('a code that is too long is not said to be missing', async () => {
  await headwater.admin('POST', '/apps', {
    name_slug: 'flowing',
    name: 'Flowing',
    auth_type: 'oauth2',
    fields: [],
    oauth: {
      authorize_url: `${service.url}/a`,
      token_url: `${service.url}/t`,
      scopes: [],
      pkce: true,
      token_auth: 'body',
    },
  });
  const client = { client_id: 'us', client_secret: CLIENT_SECRET };
  await headwater.admin('PUT', '/apps/flowing/oauth_client', client);
  const come = async (code: string) => {
    const started = await headwater.api('POST', '/connected_accounts/oauth/start', { app: 'flowing' });
    const state = new URL(started.data.authorize_url).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ state, code });
    return (await fetch(`${headwater.url}/oauth/callback?${query.toString()}`)).text();
  };
  expect(await come('x'.repeat(4_097))).toContain(
    'sent an authorization code of 4097 characters; at most 4096 are taken (maxOAuthCodeChars)',
  );
  expect(await come('')).toContain('sent no authorization code');
});

it('keys of thousands of lines do not hold the thread', async () => {
  const key = Array.from({ length: 3_000 }, (_, i) => `line-${i}-"+<é-0123`).join('\n');
  const answer = { ok: true, status: 200, body: { ok: false, error: `invalid auth ${key}` } } as const;
  const longestMs = await longestTurnMs(async () => {
    const proof = await proofOf('provider.example', answer, [{ name: '$auth.key', value: key }]);
    expect(proof.detail).toBe('provider.example answered 200: invalid auth [secret:$auth.key]');
    // The last piece is measured as well.
    await sleep(5);
  });
  expect(longestMs).toBeLessThan(MAX_TURN_MS * slowness());
});

it('a refresh token of thousands of lines that is repeated does not either', async () => {
  const token = Array.from({ length: 3_000 }, (_, i) => `line-${i}-"+<é-0123`).join('\n');
  const longestMs = await longestTurnMs(async () => {
    const outcome = await refreshTokens(
      repeating(() => token),
      party,
      token,
    );
    expect(outcome).toMatchObject({
      ok: false,
      fault: { message: expect.stringMatching(/\[secret:refresh_token\]$/) },
    });
    await sleep(5);
  });
  expect(longestMs).toBeLessThan(MAX_TURN_MS * slowness());
});
