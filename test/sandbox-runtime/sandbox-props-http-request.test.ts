import type { FetchRequest } from '@headwater/sandbox-runtime';
import { describe, expect, test } from 'vitest';
import { recordingHost, textAnswer } from '../support/run-host.ts';
import { sandboxForFile } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

interface Executed {
  request: FetchRequest | undefined;
  headers: Record<string, string>;
  body: string;
  value: unknown;
}

async function execute(
  configured: unknown,
  body = 'return await this.httpRequest.execute();',
  answer = '{"ok":1}',
  status = 200,
): Promise<Executed> {
  const code = `export default { name: 't', version: '1', props: { httpRequest: { type: 'http_request' } },
    async run() { this.$emit((await (async () => { ${body} })()) ?? null); } };`;
  const host = recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, answer, status)) });
  const { outcome } = await sandbox.run(code, {
    props: { httpRequest: { kind: 'http-request', request: configured } },
    host,
  });
  if (!outcome.ok) throw new Error(outcome.fault.message);
  const [request] = host.requests;
  return {
    request,
    headers: Object.fromEntries(request?.headers ?? []),
    body: Buffer.from(request?.body ?? []).toString('utf8'),
    value: host.data()[0],
  };
}

describe('props: http_request', () => {
  test('props: http_request: execute() makes the configured request and answers data, status and headers', async () => {
    const { request, value } = await execute({ method: 'GET', url: 'https://api.example/posts' });
    expect(request).toMatchObject({ method: 'GET', url: 'https://api.example/posts' });
    expect(value).toEqual({
      data: { ok: 1 },
      status: 200,
      statusText: 'OK',
      headers: { 'content-type': 'text/plain' },
      config: { method: 'GET', url: 'https://api.example/posts' },
    });
  });

  test('the configured request can be read, and the method defaults to GET', async () => {
    const { request, value } = await execute(
      { url: 'api.example/x' },
      'await this.httpRequest.execute(); return this.httpRequest.url;',
    );
    expect([request?.method, request?.url, value]).toEqual(['GET', 'https://api.example/x', 'api.example/x']);
  });

  test('rows of params and headers are sent, without those that are disabled or were never filled in', async () => {
    const rows = [
      { name: 'a', value: '1 2' },
      { name: 'b', value: 'x', disabled: true },
      { name: '', value: '' },
      { name: 'c', value: 3 },
    ];
    const { request, headers } = await execute({ url: 'https://api.example/?q=0', params: rows, headers: rows });
    expect(request?.url).toBe('https://api.example/?q=0&a=1+2&c=3');
    expect(headers).toMatchObject({ a: '1 2', c: '3' });
    expect(headers).not.toHaveProperty('b');
  });

  test('params, query and headers may be objects, and params { fields: [{ name: value }] }', async () => {
    const url = 'https://api.example/';
    expect((await execute({ url, params: { a: 1, b: 'x' } })).request?.url).toBe(`${url}?a=1&b=x`);
    expect((await execute({ url, query: { a: 1 } })).request?.url).toBe(`${url}?a=1`);
    expect((await execute({ url, params: { fields: [{ postId: 1 }] } })).request?.url).toBe(`${url}?postId=1`);
    expect((await execute({ url, headers: { 'x-a': 'b' } })).headers).toMatchObject({ 'x-a': 'b' });
  });

  test('a body of fields is encoded as its type says, JSON by default', async () => {
    const fields = [
      { name: 'a', value: '1' },
      { name: 'b', value: 'x y', disabled: false },
    ];
    const post = (body: unknown) => execute({ method: 'post', url: 'https://api.example/', body });
    const asJson = await post({ type: 'fields', contentType: 'application/json', fields });
    expect([asJson.request?.method, asJson.body, asJson.headers['content-type']]).toEqual([
      'POST',
      '{"a":"1","b":"x y"}',
      'application/json',
    ]);
    expect((await post({ fields: [{ name: 'Luke' }] })).body).toBe('{"name":"Luke"}');
    const form = await post({ contentType: 'application/x-www-form-urlencoded', fields });
    expect([form.body, form.headers['content-type']]).toEqual(['a=1&b=x+y', 'application/x-www-form-urlencoded']);
    const multipart = await post({ contentType: 'multipart/form-data', fields });
    expect(multipart.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(multipart.body).toContain('name="b"\r\n\r\nx y');
  });

  test('a raw body goes as it is, and an object that is no form as JSON', async () => {
    const post = (body: unknown, headers: unknown = []) =>
      execute({ method: 'PUT', url: 'https://api.example/', body, headers });
    const raw = await post({ type: 'raw', contentType: 'text/csv', raw: 'a,b', fields: [] });
    expect([raw.body, raw.headers['content-type']]).toEqual(['a,b', 'text/csv']);
    expect((await post('plain')).body).toBe('plain');
    expect((await post({ deep: { x: 1 } })).body).toBe('{"deep":{"x":1}}');
    const own = await post({ type: 'raw', contentType: '_custom', raw: '<a/>' }, [
      { name: 'Content-Type', value: 'text/xml' },
    ]);
    expect([own.body, own.headers['content-type']]).toEqual(['<a/>', 'text/xml']);
    expect((await execute({ method: 'GET', url: 'https://api.example/', body: 'x' })).request?.body).toBeUndefined();
  });

  test('basic and bearer authorization', async () => {
    const sent = async (auth: unknown) =>
      (await execute({ url: 'https://api.example/', auth })).headers['authorization'];
    expect(await sent({ type: 'basic', username: 'u', password: 'pä' })).toBe(
      `Basic ${Buffer.from('u:pä').toString('base64')}`,
    );
    expect(await sent({ username: 'u', password: 'p' })).toBe('Basic dTpw');
    expect(await sent({ type: 'bearer', token: 't' })).toBe('Bearer t');
    expect(await sent({ type: 'none', username: 'u' })).toBeUndefined();
    await expect(sent({ type: 'magic' })).rejects.toThrow(`an auth of type 'magic'; known are none, basic and bearer`);
  });

  test('an answer that is no JSON is text, and one that is no 2xx is thrown with its response', async () => {
    const url = 'https://api.example/';
    expect((await execute({ url }, undefined, 'hello')).value).toMatchObject({ data: 'hello' });
    const caught =
      'try { await this.httpRequest.execute(); } catch (e) { return [e.message, e.status, e.code, e.response.data]; }';
    expect((await execute({ url }, caught, '{"why":"gone"}', 404)).value).toEqual([
      'Request failed with status code 404',
      404,
      'ERR_BAD_REQUEST',
      { why: 'gone' },
    ]);
    expect((await execute({ url }, caught, 'down', 503)).value).toEqual([
      'Request failed with status code 503',
      503,
      'ERR_BAD_RESPONSE',
      'down',
    ]);
  });

  test('a request without a url, and one with an invalid url, say so', async () => {
    for (const configured of [undefined, null, {}, { url: ' ' }, 'x'])
      await expect(execute(configured)).rejects.toThrow('The HTTP request is not configured: it has no url');
    await expect(execute({ url: 'https://a b/' })).rejects.toThrow('has an invalid url: https://a b/');
    await expect(execute({ url: 'file:///etc/passwd' })).rejects.toThrow('file: URLs are not supported');
  });
});

describe('props: sql', () => {
  const sqlOf = async (configured: unknown) => {
    const code = `export default { name: 't', version: '1', props: { sql: { type: 'sql' } }, run() { this.$emit(this.sql); } };`;
    const { host } = await sandbox.run(code, { props: { sql: { kind: 'value', value: configured } } });
    return host.data()[0];
  };

  test('props: sql: has value, query and params for each form of configuration', async () => {
    expect(await sqlOf('select 1')).toEqual({ value: 'select 1', query: 'select 1', params: [] });
    expect(await sqlOf({ query: 'select $1', params: [1], usePreparedStatements: true })).toEqual({
      value: 'select $1',
      query: 'select $1',
      params: [1],
      usePreparedStatements: true,
    });
    expect(await sqlOf({ value: 'select 2' })).toEqual({ value: 'select 2', query: 'select 2', params: [] });
  });
});
