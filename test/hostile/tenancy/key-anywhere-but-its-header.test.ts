// tenancy: A valid key where logs, histories and other sites' requests carry it: query, path, cookie, basic, body.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

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
