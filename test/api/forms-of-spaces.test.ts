import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { httpEventJson } from '../../api/src/ingest/http-event.ts';
import { longestTurnMs, slowness } from '../support/longest-turn.ts';

/** The event of a request with this form as its body, and with this query. */
function eventOf(body: string, query = ''): { query: object; body: object; bodyRaw: string } {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const request = { method: 'POST', url: '/', headers, socket: {} } as unknown as IncomingMessage;
  return JSON.parse(
    httpEventJson(request, { key: 'k', path: '/', query, ownHost: false }, Buffer.from(body), { url: '/' }) as string,
  );
}

test.each([
  ['a=1+2', { a: '1 2' }],
  ['a=1%2B2', { a: '1+2' }],
  ['a=+%2B+%20+', { a: ' +   ' }],
  ['a+b=c+d&a+b=%2b', { 'a b': ['c d', '+'] }],
  ['a=%C3%BC+ü+€+😀', { a: 'ü ü € 😀' }],
  ['a=%zz+%+b&+', { a: '%zz % b', ' ': '' }],
  ['a=b=+c&&=+', { a: 'b= c', '': ' ' }],
])('the form %s is read as ever, in a body and in a query', (text, pairs) => {
  const { body, query, bodyRaw } = eventOf(text, text);
  expect([body, query, bodyRaw]).toEqual([pairs, pairs, text]);
  expect(body).toEqual({ ...parse(text) });
});

test('a form of millions of spaces is read at once', async () => {
  const spaces = 5_000_000;
  const text = `name=${'+'.repeat(spaces)}`;
  const longest = await longestTurnMs(async () => {
    expect((eventOf(text).body as { name: string }).name).toHaveLength(spaces);
    // Until it is measured.
    await sleep(5);
  });
  expect(longest / slowness()).toBeLessThan(200);
});
