import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { addLoopbackApp, connect, type OAuthServer, startOAuthServer } from '../../support/oauth-server.ts';
import { makeDue } from '../../support/token-clock.ts';

let headwater: Headwater;
let provider: OAuthServer;

beforeAll(async () => {
  headwater = await sharedHeadwater();
  provider = await startOAuthServer({ redirectUri: `${headwater.url}/oauth/callback` });
  await addLoopbackApp(headwater, provider);
});
afterAll(async () => {
  await provider.stop();
  await headwater.stop();
});

const app = (slug: string) => `{ type: 'app', app: '${slug}', methods: {
  token() { return this.$auth.oauth_access_token ?? this.$auth.api_key; },
  async me() {
    const headers = { authorization: 'Bearer ' + this.token() };
    return (await fetch('PROVIDER/me', { headers })).json();
  } } }`;

const ofLoopback = (body: string, extra = '') =>
  `export default { name: 'Uses an app', version: '1', props: { http: '$.interface.http',
    loopback: ${app('loopback').replace('PROVIDER', provider.url)} }, ${extra} async run(event) { ${body} } };`;

const use = (id: string) => ({ authProvisionId: id });
const post = (endpoint: string) => fetch(endpoint, { method: 'POST', body: '{}' });
const lastError = async (sourceId: string) =>
  eventually(async () => {
    const { data } = await headwater.api('GET', `/sources/${sourceId}/runs`);
    return (data as { error?: { code: string; message: string } | null }[])[0]?.error ?? undefined;
  });

it('a component gets $auth of the account that is configured, and its methods work with it', async () => {
  const id = await connect(headwater);
  const source = await headwater.deploy(
    ofLoopback('this.$emit({ keys: Object.keys(this.loopback.$auth).sort(), me: await this.loopback.me() });'),
    { loopback: use(id) },
  );
  await post(source.endpoint);
  const [record] = await headwater.untilEvents(source.id, 1);
  expect(record?.event).toEqual({
    keys: ['oauth_access_token', 'oauth_client_id', 'oauth_refresh_token', 'oauth_uid', 'plan', 'subject'],
    me: { sub: 'user-1', plan: 'gold' },
  });
  const shown = await headwater.api('GET', `/sources/${source.id}`);
  expect(shown.data.configured_props.loopback).toEqual(use(id));
});

it('each run has a token that is good then, the one of a warm isolate too', async () => {
  const id = await connect(headwater);
  const source = await headwater.deploy(
    ofLoopback('this.$emit({ me: await this.loopback.me(), end: this.loopback.token().length });'),
    { loopback: use(id) },
  );
  await post(source.endpoint);
  await headwater.untilEvents(source.id, 1);
  const asked = provider.tokenRequests().length;
  await makeDue(headwater.sql, id, { expired: true });
  // Its notification may come after the first of these.
  await eventually(async () => {
    await post(source.endpoint);
    return provider.tokenRequests().length === asked + 1;
  });
  await headwater.untilIdle();
  const { data } = await headwater.api('GET', `/sources/${source.id}/event_summaries`, { limit: 100, expand: 'event' });
  for (const { event } of data as { event: { me: unknown } }[])
    expect(event.me).toEqual({ sub: 'user-1', plan: 'gold' });
});

it('hooks have it as well, and a hook without a working account fails with the reason', async () => {
  const id = await connect(headwater);
  const code = ofLoopback('', 'hooks: { async activate() { this.$emit({ me: await this.loopback.me() }); } },');
  const source = await headwater.deploy(code, { loopback: use(id) });
  const [record] = await headwater.untilEvents(source.id, 1);
  expect(record?.event.me.sub).toBe('user-1');

  provider.revokeAll();
  await makeDue(headwater.sql, id);
  const refused = await headwater.api('POST', '/sources', {
    component_code: code,
    configured_props: { loopback: use(id) },
  });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('has to be connected again')]);
});

it('a run whose account is dead ends with AUTH_FAILED, and the next one works once it is connected again', async () => {
  const id = await connect(headwater);
  const source = await headwater.deploy(ofLoopback('this.$emit({ me: await this.loopback.me() });'), {
    loopback: use(id),
  });
  provider.revokeAll();
  await makeDue(headwater.sql, id, { expired: true });
  await post(source.endpoint);
  expect(await lastError(source.id)).toMatchObject({
    code: 'AUTH_FAILED',
    message: expect.stringContaining(`${id} (Loopback) has to be connected again`),
  });
  await connect(headwater, { connected_account_id: id });
  await post(source.endpoint);
  expect((await headwater.untilEvents(source.id, 1))[0]?.event.me.sub).toBe('user-1');
});

it('a run whose account is deleted ends with AUTH_FAILED', async () => {
  const id = await connect(headwater);
  const source = await headwater.deploy(ofLoopback('this.$emit(1);'), { loopback: use(id) });
  await headwater.api('DELETE', `/accounts/${id}`);
  await post(source.endpoint);
  expect(await lastError(source.id)).toMatchObject({
    code: 'AUTH_FAILED',
    message: expect.stringContaining(`no connected account ${id}`),
  });
});

it('tokens and keys are removed from the logs, events and errors of a run', async () => {
  const id = await connect(headwater);
  const { credentials } = (await headwater.api('GET', `/accounts/${id}`, { include_credentials: 1 })).data;
  const source = await headwater.deploy(
    ofLoopback(`const { $auth } = this.loopback;
      console.log('with', $auth, encodeURIComponent($auth.oauth_refresh_token));
      this.$emit({ $auth, header: 'Basic ' + btoa('x:' + $auth.oauth_access_token) });
      throw new Error('no: ' + $auth.oauth_access_token);`),
    { loopback: use(id) },
  );
  await post(source.endpoint);
  expect((await lastError(source.id))?.message).toBe('no: [secret:loopback.oauth_access_token]');
  const texts = await Promise.all(
    ['runs', 'event_summaries?expand=event'].map((path) => headwater.api('GET', `/sources/${source.id}/${path}`)),
  );
  for (const { text } of texts) {
    for (const secret of [credentials.oauth_access_token, credentials.oauth_refresh_token] as string[]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(`x:${secret}`).toString('base64'));
    }
    expect(text).toContain('[secret:loopback.oauth_access_token]');
  }
  const [record] = await headwater.untilEvents(source.id, 1);
  // Values that are not secret stay.
  expect(record?.event.$auth).toMatchObject({ oauth_uid: 'user-1', oauth_client_id: provider.clientId });
});

it('an app with keys gives its fields', async () => {
  const { data: account } = await headwater.api('POST', '/connected_accounts', {
    app: 'freshdesk',
    credentials: { domain: 'acme.freshdesk.com', api_key: 'fd-key-0123456789' },
  });
  const source = await headwater.deploy(
    `export default { name: 'Keys', version: '1', props: { http: '$.interface.http', desk: ${app('freshdesk')} },
      run() { this.$emit({ domain: this.desk.$auth.domain, key: this.desk.token(), length: this.desk.token().length }); } };`,
    { desk: use(account.id as string) },
  );
  await post(source.endpoint);
  expect((await headwater.untilEvents(source.id, 1))[0]?.event).toEqual({
    domain: 'acme.freshdesk.com',
    key: '[secret:desk.api_key]',
    length: 17,
  });
});

it('an account of another app is refused when the source is deployed', async () => {
  const { data: account } = await headwater.api('POST', '/connected_accounts', {
    app: 'stripe',
    credentials: { api_key: 'sk_test_0123456789' },
  });
  const refused = await headwater.api('POST', '/sources', {
    component_code: ofLoopback(''),
    configured_props: { loopback: use(account.id as string) },
  });
  expect([refused.status, JSON.parse(refused.text).errors[0].path]).toEqual([400, 'configured_props.loopback']);
});
