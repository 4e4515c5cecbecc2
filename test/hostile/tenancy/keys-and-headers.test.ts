import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { exchange } from '../../support/hostile-ingress.ts';
import { comparable, OWNED } from '../../support/hostile-tenancy.ts';
import { hostile } from '../../support/hostile.ts';

// tenancy: Headers that name the neighbour's account, as proxies in front of other services set
// them.
describe('account-id-in-a-header', () => {
  const world = hostile({ ownAccounts: true });

  const HEADERS = [
    'x-account-id',
    'x-account',
    'x-tenant-id',
    'x-org-id',
    'x-user-id',
    'x-forwarded-user',
    'x-api-key',
  ];

  it('the key alone names the account of a request', async () => {
    const { attacker, neighbour, server } = world;
    const source = await neighbour.deploy(`export default { name: 'Mine', version: '1', run() {} };`);
    await world.unharmed(async () => {
      for (const header of HEADERS) {
        const headers = { authorization: `Bearer ${attacker.key}`, [header]: neighbour.id };
        const me = await fetch(`${server.url}/v1/users/me`, { headers });
        expect(await me.text()).not.toContain(neighbour.id);
        const shown = await fetch(`${server.url}/v1/sources/${source.id}`, { headers });
        expect([header, shown.status]).toEqual([header, 404]);
      }
    });
  });
});

// tenancy: Telling from its answers whether an endpoint exists, is stopped or was deleted.
describe('endpoint-key-guessing', () => {
  const world = hostile({ ownAccounts: true });

  it('unknown, stopped and deleted are one answer, and a key has far too many values to try', async () => {
    const { neighbour, server } = world;
    const [stopped, deleted] = await Promise.all([neighbour.deploy(OWNED), neighbour.deploy(OWNED)]);
    await neighbour.api('PUT', `/sources/${stopped.id}`, { active: false });
    await neighbour.api('DELETE', `/sources/${deleted.id}`);
    const key = stopped.endpoint.split('/').at(-1) ?? '';
    // Base 62: 20 characters are 119 bits.
    expect(key).toMatch(/^[0-9A-Za-z]{20,}$/);
    const guesses = [
      'z'.repeat(key.length),
      key.slice(0, -1),
      `${key}0`,
      key.toLowerCase(),
      '%00',
      '..%2f..%2fv1',
      '*',
    ];
    const answers = await world.unharmed(() =>
      Promise.all(
        [stopped.endpoint, deleted.endpoint, ...guesses.map((guess) => `${server.url}/e/${guess}`)].map(async (url) => {
          const answer = await fetch(url, { method: 'POST', body: '{}' });
          return JSON.stringify(comparable({ status: answer.status, text: await answer.text() }, key));
        }),
      ),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('"status":404');
  });
});

// tenancy: A request to the attacker's endpoint that names the neighbour's in Host, in an absolute
// URL and in rewrite headers.
describe('endpoint-of-others-in-headers', () => {
  const world = hostile({ ownAccounts: true });

  it('goes where its path says', async () => {
    const { attacker, neighbour, sql } = world;
    const [own, theirs] = await Promise.all([attacker.deploy(OWNED), neighbour.deploy(OWNED)]);
    const [ownPath, theirPath] = [new URL(own.endpoint).pathname, new URL(theirs.endpoint).pathname];
    const key = theirPath.split('/').at(-1);
    const heads = [
      `POST ${ownPath} HTTP/1.1\r\nhost: ${key}.localhost\r\n`,
      `POST http://${key}.localhost${ownPath} HTTP/1.1\r\nhost: x\r\n`,
      `POST ${ownPath} HTTP/1.1\r\nhost: x\r\nx-original-url: ${theirPath}\r\nx-rewrite-url: ${theirPath}\r\n`,
      `POST ${ownPath} HTTP/1.1\r\nhost: x\r\nx-forwarded-host: ${key}.localhost\r\nx-forwarded-prefix: ${theirPath}\r\n`,
      `POST ${ownPath}/..${theirPath} HTTP/1.1\r\nhost: x\r\n`,
    ];
    await world.unharmed(async () => {
      for (const head of heads) {
        const { statuses } = await exchange(world.server, `${head}content-length: 1\r\nconnection: close\r\n\r\n1`);
        expect([head, statuses]).toEqual([head, [200]]);
      }
    });
    const eventsOf = (id: string) => sql`select from events where emitter_id = ${id}`;
    await eventually(async () => (await eventsOf(own.id)).length >= heads.length);
    expect(await eventsOf(theirs.id)).toHaveLength(0);
  });
});

// tenancy: Answers whose headers have a browser keep, report or hand over something for all
// endpoints of the shared host.
describe('headers-for-the-whole-host', () => {
  const world = hostile({ ownAccounts: true });
  const HEADERS = {
    'alt-svc': 'h2="evil.example:443"; ma=86400',
    nel: '{"report_to":"x","max_age":86400,"success_fraction":1}',
    'report-to': '{"group":"x","max_age":86400,"endpoints":[{"url":"https://evil.example"}]}',
    'Clear-Site-Data': '"*"',
    'strict-transport-security': 'max-age=86400; includeSubDomains',
    'www-authenticate': 'Basic realm="theirs"',
    'x-own': 'kept',
  };
  const COOKIES = [
    'plain=1',
    'path=1; Path=/; HttpOnly',
    'other=1;\tpAtH = /e/another; path=/',
    'domain=1; Domain=example.com; Secure',
    'bare=1; Path; Domain',
    'path=/; Max-Age=60',
  ];
  const answering = (headers: object) => `export default { name: 'Page', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  async run() { await this.http.respond({ status: 401, headers: ${JSON.stringify(headers)}, body: '' }); } };`;

  it('are left out, and cookies stay with the endpoint that sets them', async () => {
    const { attacker } = world;
    const { endpoint } = await attacker.deploy(answering({ ...HEADERS, 'Set-Cookie': COOKIES }));
    const { headers } = await world.unharmed(() => fetch(endpoint));
    const kept = Object.keys(HEADERS).filter((name) => headers.has(name));
    expect(kept).toEqual(['x-own']);
    const { pathname } = new URL(endpoint);
    expect(headers.getSetCookie()).toEqual([
      `plain=1; Path=${pathname}`,
      `path=1; HttpOnly; Path=${pathname}`,
      `other=1; Path=${pathname}`,
      `domain=1; Secure; Path=${pathname}`,
      `bare=1; Path=${pathname}`,
      `path=/; Max-Age=60; Path=${pathname}`,
    ]);
    const one = await attacker.deploy(answering({ 'set-cookie': 'a=1' }));
    expect((await fetch(one.endpoint)).headers.getSetCookie()).toEqual([`a=1; Path=${new URL(one.endpoint).pathname}`]);
  });
});

// tenancy: A valid key where logs, histories and other sites' requests carry it: query, path,
// cookie, basic, body.
describe('key-anywhere-but-its-header', () => {
  const world = hostile({ ownAccounts: true });

  it('is taken from the Authorization header alone, and is not repeated to the client', async () => {
    const { neighbour, server } = world;
    const { key } = neighbour;
    const tries: [string, RequestInit][] = [
      [`/v1/sources?api_key=${key}&access_token=${key}&key=${key}`, {}],
      [`/v1/sources`, { headers: { cookie: `api_key=${key}; authorization=Bearer%20${key}` } }],
      [`/v1/sources`, { headers: { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` } }],
      [`/v1/sources`, { headers: { 'x-api-key': key, 'proxy-authorization': `Bearer ${key}` } }],
      [`/v1/sources`, { headers: { authorization: `Bearer ${key} ${key}` } }],
      [`/v1/sources`, { headers: { authorization: key } }],
      [
        `/v1/webhooks`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ api_key: key, url: 'https://x.example' }),
        },
      ],
    ];
    await world.unharmed(async () => {
      for (const [path, init] of tries) {
        const answer = await fetch(`${server.url}${path}`, init);
        expect([path, answer.status]).toEqual([path, 401]);
        expect(await answer.text()).not.toContain(key);
      }
    });
  });
});

// tenancy: Pages served without a key, searched for data of the neighbour.
describe('public-pages-without-tenant-data', () => {
  const world = hostile({ ownAccounts: true });

  it('figures, health and the API’s description are about the node, not about its users', async () => {
    const { neighbour, server } = world;
    const source = await neighbour.deploy(OWNED, { token: 'secret-of-the-neighbour' });
    const webhook = await neighbour.api('POST', '/webhooks', { url: 'https://receiver-of-the-neighbour.example/in' });
    await fetch(source.endpoint, { method: 'POST', body: 'body-of-the-neighbour' });
    const pages = await world.unharmed(() =>
      Promise.all(
        ['/metrics', '/healthz', '/openapi.json', '/', '/v1', '/e/', '/favicon.ico'].map((path) =>
          fetch(`${server.url}${path}`).then((answer) => answer.text()),
        ),
      ),
    );
    const text = pages.join('\n');
    expect(text).toContain('headwater_');
    const { id: webhookId, secret } = webhook.body.data as { id: string; secret: string };
    const key = new URL(source.endpoint).pathname.split('/').at(-1) ?? '';
    for (const own of [neighbour.id, neighbour.key, source.id, webhookId, secret, key, 'of-the-neighbour']) {
      expect(text).not.toContain(own);
    }
  });
});

// tenancy: A key that was revoked, on requests that keep coming on warm connections.
describe('revoked-key', () => {
  const world = hostile({ ownAccounts: true });

  it('is over with the answer that revoked it', async () => {
    const { attacker, server } = world;
    await world.unharmed(async () => {
      const made = await attacker.api('POST', '/api_keys', { name: 'stolen' });
      const { id, api_key: key } = made.body.data as { id: string; api_key: string };
      const asks = () => fetch(`${server.url}/v1/sources`, { headers: { authorization: `Bearer ${key}` } });
      expect(await Promise.all([asks(), asks(), asks()].map(async (answer) => (await answer).status))).toEqual([
        200, 200, 200,
      ]);
      expect((await attacker.api('DELETE', `/api_keys/${id}`)).status).toBe(204);
      expect(await Promise.all([asks(), asks(), asks()].map(async (answer) => (await answer).status))).toEqual([
        401, 401, 401,
      ]);
    });
  });
});

// tenancy: The operator's routes with the key of an account: making accounts, raising one's own
// limits, changing apps.
describe('operator-routes', () => {
  const world = hostile({ ownAccounts: true });

  it('are refused, and change nothing', async () => {
    const { attacker, neighbour, server } = world;
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { security?: object[] }>>;
    };
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security = [] }]) => security.length > 0 && security.every((scheme) => 'adminKey' in scheme))
        .map(([method]) => [method.toUpperCase(), path.slice('/v1'.length)]),
    );
    expect(routes).toContainEqual(['POST', '/accounts']);
    expect(routes).toContainEqual(['PUT', '/accounts/{id}/limits']);
    expect(routes).toContainEqual(['PUT', '/apps/{id}/oauth_client']);
    const before = (await attacker.api('GET', '/users/me/limits')).text;
    await world.unharmed(async () => {
      for (const [method = '', path = ''] of routes) {
        for (const id of [attacker.id, neighbour.id]) {
          const body = method === 'GET' ? undefined : { name: 'Mine', runCpuMs: 300_000 };
          const answer = await attacker.api(method, path.replace('{id}', id), body);
          expect([method, path, answer.status]).toEqual([method, path, 403]);
          expect(answer.text).not.toContain('api_key');
        }
      }
    });
    expect((await attacker.api('GET', '/users/me/limits')).text).toBe(before);
  });
});
