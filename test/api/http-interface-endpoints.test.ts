import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { post } from '../support/server.ts';

let node: Headwater;
beforeAll(async () => {
  node = await sharedHeadwater();
});
afterAll(() => node.stop());

/** Last event of the source, once it has `count` events. */
async function lastEvent(sourceId: string, count: number) {
  return (await node.untilEvents(sourceId, count)).at(-1)?.event;
}

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

/** Through node's own client: any method, a body with any of them, and the answer as it came. */
function ask(
  url: string,
  method: string,
  headers: Record<string, string> = {},
  body?: string | Buffer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const ECHO = `export default { name: "Echo", version: "1", props: { http: "$.interface.http" },
  run(event) { this.$emit(event); } };`;

const answering = (run: string) => `export default { name: "Answers", version: "1",
  props: { http: { type: "$.interface.http", customResponse: true } }, async run(event) { ${run} } };`;

it('the endpoint can be read in every hook, in methods and in run, and is the same in all of them', async () => {
  const tell = (where: string) => `this.$emit({ where: "${where}", endpoint: this.here() })`;
  const source = await node.deploy(`export default { name: "Knows its endpoint", version: "1",
    props: { http: "$.interface.http" },
    methods: { here() { return this.http.endpoint; } },
    hooks: { deploy() { ${tell('deploy')} }, activate() { ${tell('activate')} }, deactivate() { ${tell('deactivate')} } },
    run() { ${tell('run')} } };`);
  await post(source.endpoint, {});
  await node.untilEvents(source.id, 3);
  await node.api('PUT', `/sources/${source.id}`, { active: false });
  const events = await node.untilEvents(source.id, 4);
  expect(events.map(({ event }) => event)).toEqual(
    ['deploy', 'activate', 'run', 'deactivate'].map((where) => ({ where, endpoint: source.endpoint })),
  );
});

it('the endpoint stays the same over updates of props and code, also where the prop is renamed', async () => {
  const source = await node.deploy(ECHO);
  const path = `/sources/${source.id}`;
  const renamed = ECHO.replace('http:', 'webhook:');
  const urlOf = async (prop: string) => (await node.api('GET', path)).data.configured_props[prop]?.endpoint_url;
  await node.api('PUT', path, { component_code: ECHO.replace('"1"', '"2"'), configured_props: {} });
  expect(await urlOf('http')).toBe(source.endpoint);
  await node.api('PUT', path, { component_code: renamed });
  expect([await urlOf('webhook'), await urlOf('http')]).toEqual([source.endpoint, undefined]);
  expect((await post(source.endpoint, { renamed: true })).status).toBe(200);
  expect(await lastEvent(source.id, 1)).toMatchObject({ body: { renamed: true } });

  const refused = await node.api('PUT', path, {
    component_code: ECHO.replace('run(event)', 'hooks: { activate() { throw new Error("no") } }, run(event)'),
  });
  expect([refused.status, await urlOf('webhook')]).toEqual([422, source.endpoint]);
  expect((await post(source.endpoint, {})).status).toBe(200);
});

it('a source with two HTTP props has two endpoints, and each answers in its own way', async () => {
  const { data } = await node.api('POST', '/sources', {
    component_code: `export default { name: "Two", version: "1",
      props: { open: "$.interface.http", own: { type: "$.interface.http", customResponse: true } },
      run(event) { this.own.respond({ status: 201, body: event.path }); this.$emit(event.path); } };`,
  });
  const { open, own } = data.configured_props;
  expect(open.endpoint_url).not.toBe(own.endpoint_url);
  expect(await ask(`${own.endpoint_url}/a`, 'GET')).toMatchObject({ status: 201, text: '/a' });
  expect(await ask(`${open.endpoint_url}/b`, 'GET')).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  const events = await node.untilEvents(data.id, 2);
  expect(events.map(({ event }) => event)).toEqual(['/a', '/b']);
});

it('every method reaches run, with the path below the endpoint, the query and headers in lower case', async () => {
  const source = await node.deploy(ECHO);
  const methods = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'POST'];
  for (const method of methods) {
    const answer = await ask(`${source.endpoint}/a/b?x=1&y=2&y=3`, method, { 'X-Mixed-Case': 'V' });
    expect([method, answer.status, answer.text]).toEqual([method, 200, method === 'HEAD' ? '' : '{"status":"ok"}']);
  }
  const events = (await node.untilEvents(source.id, methods.length)).map(({ event }) => event);
  expect(events.map(({ method }) => method).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(methods.toSorted());
  for (const event of events) {
    expect(event).toMatchObject({ path: '/a/b', query: { x: '1', y: ['2', '3'] }, headers: { 'x-mixed-case': 'V' } });
  }
});

it.each([
  ['a JSON body is parsed', 'application/json', '{"a":[1]}', { body: { a: [1] }, bodyRaw: '{"a":[1]}' }],
  ['broken JSON is the text', 'application/json', '{"a":', { body: '{"a":', bodyRaw: '{"a":' }],
  ['a urlencoded body is an object', 'application/x-www-form-urlencoded', 'a=1&b=x+y', { body: { a: '1', b: 'x y' } }],
  ['text is text', 'text/plain', 'hello', { body: 'hello', bodyRaw: 'hello' }],
  ['no body is null', 'application/json', '', { body: null, bodyRaw: '' }],
  ['bytes are base64', 'image/png', Buffer.from([0x89, 0xff, 0]), { bodyRaw: 'if8A', isBase64Encoded: true }],
])('%s', async (_, contentType, body, event) => {
  const source = await node.deploy(ECHO);
  expect((await ask(source.endpoint, 'POST', { 'content-type': contentType }, body)).status).toBe(200);
  expect(await lastEvent(source.id, 1)).toMatchObject(event);
});

it('a multipart body is an object, one key a field, a file with its name, type and bytes', async () => {
  const source = await node.deploy(`export default { name: "Files", version: "1", props: { http: "$.interface.http" },
    run({ body }) { this.$emit({ ...body, bytes: [...Buffer.from(body.photo.content, body.photo.encoding)] }); } };`);
  const form = new FormData();
  form.append('title', 'A photo');
  form.append('photo', new File([new Uint8Array([0, 255, 10])], 'p.png', { type: 'image/png' }));
  expect((await fetch(source.endpoint, { method: 'POST', body: form })).status).toBe(200);
  expect(await lastEvent(source.id, 1)).toMatchObject({
    title: 'A photo',
    photo: { filename: 'p.png', mimetype: 'image/png', size: 3 },
    bytes: [0, 255, 10],
  });
});

it('a body over 512 KB is 413, an endpoint that does not exist or whose source is stopped is 404', async () => {
  const source = await node.deploy(ECHO);
  expect((await ask(source.endpoint, 'POST', {}, Buffer.alloc(512 * 1024 + 1, 97))).status).toBe(413);
  expect((await ask(source.endpoint, 'POST', {}, Buffer.alloc(512 * 1024, 97))).status).toBe(200);
  expect((await ask(`${source.endpoint}x`, 'POST')).status).toBe(404);
  await node.api('PUT', `/sources/${source.id}`, { active: false });
  expect((await ask(source.endpoint, 'POST')).status).toBe(404);
  await node.api('PUT', `/sources/${source.id}`, { active: true });
  expect((await ask(source.endpoint, 'POST')).status).toBe(200);
});

it.each([
  ['a string', `"text"`, {}, 'text'],
  ['an object, as JSON', `{ a: [1] }`, { 'content-type': 'application/json' }, '{"a":[1]}'],
  ['a Buffer', `Buffer.from("bytes")`, {}, 'bytes'],
])('respond answers with status, headers and %s', async (_, body, headers, text) => {
  const run = `this.http.respond({ status: 418, headers: { "X-Own": "1" }, body: ${body} });`;
  const source = await node.deploy(answering(run));
  const answer = await ask(source.endpoint, 'POST');
  expect(answer).toMatchObject({ status: 418, headers: { 'x-own': '1', ...headers }, text });
  const head = await ask(source.endpoint, 'HEAD');
  expect(head).toMatchObject({
    status: 418,
    headers: { 'x-own': '1', 'content-length': String(text.length) },
    text: '',
  });
});

it.each([
  ['awaited', `await this.http.respond({ status: 202 });`, 202],
  ['not awaited', `this.http.respond({ status: 202 });`, 202],
  [
    'in a method that run calls later',
    `await new Promise((r) => setTimeout(r, 20)); this.http.respond({ status: 202 });`,
    202,
  ],
  ['twice: the first counts', `this.http.respond({ status: 202 }); this.http.respond({ status: 500 });`, 202],
  ['before a throw', `this.http.respond({ status: 202 }); throw new Error("after");`, 202],
  ['never', ``, 400],
  ['never, because run throws', `throw new Error("before");`, 400],
  ['with a status that is none', `this.http.respond({ status: 99 });`, 400],
])('respond %s', async (_, run, status) => {
  const source = await node.deploy(answering(run));
  expect((await ask(source.endpoint, 'POST')).status).toBe(status);
});

it('an answer that is due and does not come says so', async () => {
  const silent = await node.deploy(answering(''));
  expect((await ask(silent.endpoint, 'GET')).text).toContain('without calling respond');
});

const FAILURES: [why: string, run: string, text: string][] = [
  ['throws', 'throw new Error("secret thing");', 'secret thing'],
  ['throws a custom error', 'class Db extends Error {} throw new Db("postgres://me:pw@h");', 'postgres://me:pw@h'],
  ['throws text', 'throw "secret text";', 'secret text'],
  ['rejects', 'await Promise.reject(Object.assign(new Error("secret"), { cause: new Error("why") }));', 'secret'],
  ['answers wrongly', 'this.http.respond({ status: "secret" });', 'secret'],
];

it.each(FAILURES)('a run that %s tells its owner why, and its caller only where', async (_, run, text) => {
  const source = await node.deploy(answering(run));
  const answer = await ask(source.endpoint, 'GET');
  expect(answer.status).toBe(400);
  expect(answer.text).not.toContain(text);
  const [, runId] = /its logs say why, under (inv_\w+)/.exec(answer.text) ?? [];
  const errors = await eventually(async () => {
    const { data } = await node.api('GET', `/sources/${source.id}/$errors/event_summaries`, { expand: 'event' });
    return data.length > 0 && data;
  });
  expect(errors[0].event).toMatchObject({ original_context: { id: runId } });
  expect(errors[0].event.error.message).toContain(text);
});

it('a page of another origin may call an endpoint that does not answer itself; one that does decides itself', async () => {
  const preflight = { origin: 'https://page.example', 'access-control-request-method': 'POST' };
  const open = await ask((await node.deploy(ECHO)).endpoint, 'OPTIONS', preflight);
  expect(open.headers).toMatchObject({ 'access-control-allow-origin': '*' });
  expect(open.headers['access-control-allow-methods']).toContain('POST');
  const own = answering(
    'this.http.respond({ status: 204, headers: { "access-control-allow-origin": event.headers.origin } });',
  );
  const decides = await node.deploy(own);
  await node.api('PUT', `/sources/${decides.id}`, { preflight: 'run' });
  const closed = await ask(decides.endpoint, 'OPTIONS', preflight);
  expect(closed).toMatchObject({ status: 204, headers: { 'access-control-allow-origin': 'https://page.example' } });
});

it('run now runs a source of any interface, with the event that is given or one that fits', async () => {
  const runNow = async (props: string, event?: unknown) => {
    const source = await node.deploy(`export default { name: "By hand", version: "1", props: ${props},
      run(event) { this.$emit({ event }); } };`);
    const answer = await node.api('POST', `/sources/${source.id}/run`, event === undefined ? {} : { event });
    expect(answer.status).toBeLessThan(300);
    return (await node.untilEvents(source.id, 1))[0]?.event.event as unknown;
  };
  const cron = { cron: '0 0 1 1 *', timezone: 'Asia/Tokyo' };
  expect(await runNow(`{ http: "$.interface.http" }`, { body: 1 })).toEqual({ body: 1 });
  expect(await runNow(`{ http: "$.interface.http" }`)).toEqual({});
  expect(await runNow(`{ db: "$.service.db" }`)).toEqual({});
  expect(await runNow(`{}`, { any: ['thing'] })).toEqual({ any: ['thing'] });
  const timestamp = expect.any(Number) as unknown;
  const timer = (value: object) => `{ timer: { type: "$.interface.timer", default: ${JSON.stringify(value)} } }`;
  expect(await runNow(timer({ intervalSeconds: 3600 }))).toEqual({ timestamp, interval_seconds: 3600 });
  expect(await runNow(timer(cron))).toEqual({ timestamp, interval_seconds: null, ...cron });
});

it('a source that is stopped is not run by hand', async () => {
  const source = await node.deploy(ECHO);
  await node.api('PUT', `/sources/${source.id}`, { active: false });
  expect((await node.api('POST', `/sources/${source.id}/run`, {})).status).toBe(409);
  await eventually(async () => (await node.api('GET', `/sources/${source.id}`)).data.active === false);
});
