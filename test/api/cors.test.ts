import { LIMITS } from '@headwater/shared';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawRequest, startTestServer, type TestServer } from '../support/http-server.ts';

const PAGE = 'https://app.example';
const PREFLIGHT = {
  origin: PAGE,
  'access-control-request-method': 'PUT',
  'access-control-request-headers': 'authorization,content-type',
};

/** The CORS headers of an answer. */
const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

describe('with origins that may call', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ corsOrigins: [PAGE, 'https://other.example'] });
  });
  afterAll(() => server.server.stop());

  test('a preflight is answered before any key is asked for', async () => {
    const answer = await fetch(`${server.url}/v1/sources/dc_1`, { method: 'OPTIONS', headers: PREFLIGHT });
    expect([answer.status, await answer.text(), answer.headers.get('vary')]).toEqual([204, '', 'origin']);
    expect(corsOf(answer)).toEqual({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
      'access-control-allow-headers': expect.stringMatching(/authorization.*if-match.*idempotency-key/),
      'access-control-max-age': '600',
    });
  });

  test('a page reads answers and errors, with the headers that it needs, and never with credentials', async () => {
    const found = await server.call('/v1/sources/dc_1', { headers: { origin: PAGE } });
    const refused = await fetch(`${server.url}/v1/sources/dc_1`, { headers: { origin: PAGE } });
    expect([found.status, refused.status]).toEqual([200, 401]);
    for (const answer of [found, refused]) {
      expect(corsOf(answer)).toEqual({
        'access-control-allow-origin': PAGE,
        'access-control-expose-headers': expect.stringMatching(/etag.*retry-after.*ratelimit.*x-request-id/),
      });
      expect(answer.headers.get('vary')).toContain('origin');
    }
  });

  test.each(['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null'])(
    'a page of %s gets none of it, and its preflight no answer',
    async (origin) => {
      const answer = await server.call('/v1/sources/dc_1', { headers: { origin } });
      expect([corsOf(answer), answer.headers.get('vary')]).toEqual([{}, 'origin']);
      const preflight = await fetch(`${server.url}/v1/sources`, {
        method: 'OPTIONS',
        headers: { ...PREFLIGHT, origin },
      });
      expect([preflight.status, corsOf(preflight)]).toEqual([405, {}]);
    },
  );

  test('the sign-in of the web UI stays with pages of this server', async () => {
    const answer = await fetch(`${server.url}/v1/session`, { method: 'OPTIONS', headers: PREFLIGHT });
    expect([answer.status, corsOf(answer)]).toEqual([405, {}]);
  });

  test('an OPTIONS request that is no preflight is a method like any other', async () => {
    const answer = await server.call('/v1/sources', { method: 'OPTIONS', headers: { origin: PAGE } });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
  });
});

test('with * any page may call, without credentials', async () => {
  const server = await startTestServer({ corsOrigins: ['*'] });
  const answer = await server.call('/v1/sources/dc_1', { headers: { origin: 'https://anybody.example' } });
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  const preflight = await fetch(`${server.url}/v1/sources`, { method: 'OPTIONS', headers: PREFLIGHT });
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  await server.server.stop();
});

test('without the setting no page of another origin may call', async () => {
  const server = await startTestServer();
  const answer = await server.call('/v1/sources/dc_1', { headers: { origin: PAGE } });
  expect([corsOf(answer), answer.headers.get('vary')]).toEqual([{}, null]);
  const preflight = await fetch(`${server.url}/v1/sources`, { method: 'OPTIONS', headers: PREFLIGHT });
  expect([preflight.status, corsOf(preflight)]).toEqual([405, {}]);
  await server.server.stop();
});

test('a page can read a refusal before the app, and its id', async () => {
  const server = await startTestServer({ corsOrigins: [PAGE] });
  const ask = (headers: Record<string, string>, method = 'GET') =>
    rawRequest(server.port, { method, path: '/v1/sources', headers });
  const long = { 'x-long': 'x'.repeat(LIMITS.maxHeaderBytes + 1) };
  const tooLarge = await ask({ origin: PAGE, expect: '100-continue', 'content-length': '999999999' }, 'POST');
  const tooLong = await ask({ origin: PAGE, ...long });
  expect([tooLarge.status, tooLong.status]).toEqual([413, 431]);
  for (const answer of [tooLarge, tooLong]) {
    expect(answer.headers['access-control-allow-origin']).toBe(PAGE);
    const { request_id: id } = JSON.parse(answer.text) as { request_id: string };
    expect([id, answer.headers['x-request-id']]).toEqual([expect.stringMatching(/^req_/), id]);
  }
  const elsewhere = await ask({ origin: 'https://evil.example', expect: 'nonsense' });
  expect([elsewhere.status, elsewhere.headers['access-control-allow-origin']]).toEqual([417, undefined]);
  await server.server.stop();
});
