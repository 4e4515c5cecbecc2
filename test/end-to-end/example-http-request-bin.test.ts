import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, readExample, sharedHeadwater } from '../support/headwater.ts';

let hw: Headwater;
let code: string;

beforeAll(async () => {
  hw = await sharedHeadwater();
  code = await readExample('http-request-bin.mjs');
});
afterAll(() => hw?.stop());

test('every request becomes an event with its method, path, query, headers and body', async () => {
  const { id, endpoint } = await hw.deploy(code);
  const answer = await fetch(`${endpoint}/orders/7?tag=a&tag=b&page=2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Trace': 'abc' },
    body: '{"total": 12.50, "items": ["weir"]}',
  });
  expect([answer.status, await answer.text()]).toEqual([200, 'ok\n']);
  // The client is answered before the commit: runs that follow each other at once may be stored in
  // either order.
  await hw.untilIdle();
  await fetch(endpoint, { method: 'DELETE' });
  const [first, second] = await hw.untilEvents(id, 2);
  expect(first).toMatchObject({
    event: {
      method: 'POST',
      path: '/orders/7',
      query: { tag: ['a', 'b'], page: '2' },
      headers: { 'x-trace': 'abc', 'content-type': 'application/json' },
      body: { total: 12.5, items: ['weir'] },
    },
    metadata: { summary: 'POST /orders/7', name: '' },
  });
  expect(second).toMatchObject({ event: { method: 'DELETE', path: '/', body: null } });
});

test('the props choose status, type and text of the answer', async () => {
  const { endpoint } = await hw.deploy(code, {
    responseStatus: 202,
    responseBody: '<p>thank you</p>',
    responseContentType: 'text/html',
  });
  const answer = await fetch(endpoint, { method: 'PUT', body: 'plain text' });
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    202,
    'text/html',
    '<p>thank you</p>',
  ]);
});

test('a status outside of 200 to 599 is refused at deployment', async () => {
  const { status, text } = await hw.api('POST', '/sources', {
    component_code: code,
    configured_props: { responseStatus: 99 },
  });
  expect([status, JSON.parse(text).errors[0].path]).toEqual([400, 'configured_props.responseStatus']);
});
