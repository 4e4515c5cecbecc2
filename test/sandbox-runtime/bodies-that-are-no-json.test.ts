import { expect, test } from 'vitest';
import { sandboxForFile } from '../support/sandbox-kit.ts';
import { runStep, withStep } from '../support/step-kit.ts';

const sandbox = sandboxForFile();

const READ_FORM = /^------form\w+\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n------form\w+--\r\n$/i;

/** Body, its own content type, and the bytes that are sent. */
const BODIES: [body: string, type: unknown, sent: unknown][] = [
  [`'text'`, 'text/plain;charset=UTF-8', 'text'],
  [`''`, undefined, ''],
  [`Buffer.from('buffer')`, undefined, 'buffer'],
  [`new Uint8Array([104, 105])`, undefined, 'hi'],
  [`new Uint16Array([26984])`, undefined, 'hi'],
  [`new DataView(new Uint8Array([104, 105]).buffer, 1)`, undefined, 'i'],
  [`new Uint8Array([104, 105]).buffer`, undefined, 'hi'],
  [`new URLSearchParams({ a: 'ü', b: 2 })`, 'application/x-www-form-urlencoded;charset=UTF-8', 'a=%C3%BC&b=2'],
  [`new Blob(['blob'], { type: 'text/csv' })`, 'text/csv', 'blob'],
  [`new Blob(['blob'])`, undefined, 'blob'],
  [
    `(() => { const f = new FormData(); f.set('a', '1'); return f })()`,
    expect.stringMatching(/^multipart\/form-data; boundary=----form\w+$/),
    expect.stringMatching(READ_FORM),
  ],
  [`stream.Readable.from([Buffer.from('a'), Buffer.from('b')])`, undefined, 'ab'],
  [`stream.Readable.from(['a', 'b'])`, undefined, 'ab'],
  [`new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('web')); c.close() } })`, undefined, 'web'],
  [
    `(async function* () { yield 'a'; await new Promise((r) => setTimeout(r, 5)); yield Buffer.from('b') })()`,
    undefined,
    'ab',
  ],
  [`{ a: 1 }`, 'application/json', '{"a":1}'],
  [`[1]`, 'application/json', '[1]'],
  [`0`, 'application/json', '0'],
  [`new Date(0)`, 'application/json', '"1970-01-01T00:00:00.000Z"'],
];

const IMPORTS = `import stream from 'stream';`;

test.each(BODIES)('respond sends %s unchanged', async (body, type, sent) => {
  const code = `${IMPORTS}${withStep(`$.respond({ status: 200, body: ${body} });`)}`;
  const { outcome, record } = await runStep(sandbox.run, code);
  expect(outcome).toMatchObject({ ok: true });
  const [{ response } = {}] = record.responses;
  expect(response?.headers['content-type']).toEqual(type);
  expect(Buffer.from(response?.body ?? []).toString()).toEqual(sent);
});

test('respond of a source sends a stream too, and a content type that is given holds', async () => {
  const { outcome, host } = await sandbox.run(
    `${IMPORTS} export default { name: 'x', version: '1', run() {
      this.http.respond({ status: 200, headers: { 'Content-Type': 'text/csv' }, body: stream.Readable.from(['a,b']) }) } }`,
    { props: { http: { kind: 'http', endpoint: 'http://a.example/' } } },
  );
  expect(outcome.ok).toBe(true);
  expect(host.responses.map(({ body, headers }) => [Buffer.from(body).toString(), headers])).toEqual([
    ['a,b', { 'Content-Type': 'text/csv' }],
  ]);
});

test.each([
  [`new Map([[1, 2]])`, 'Map'],
  [`new Set([1])`, 'Set'],
  [`Promise.resolve(1)`, 'Promise: await it'],
  [`new Response('a')`, 'Response: give its body'],
  [`new Headers()`, 'Headers'],
  [`new Error('secret')`, 'Error'],
  [`/a/`, 'RegExp'],
  [`new stream.Writable()`, 'stream'],
  [`Object.assign(new (process.getBuiltinModule('events'))(), { pipe() {} })`, 'stream'],
  [`() => 1`, 'function'],
  [`Symbol('a')`, 'symbol'],
])('respond refuses %s, of which JSON has nothing', async (body, name) => {
  const code = `${IMPORTS}${withStep(`$.respond({ status: 200, body: ${body} });`)}`;
  const { outcome, record } = await runStep(sandbox.run, code);
  const message = `TypeError: respond: the body cannot be a ${name.replace(/:.*/, '')}`;
  expect(outcome).toMatchObject({ ok: false, fault: { message: expect.stringContaining(message) } });
  expect(record.responses).toEqual([]);
});

test.each([
  [`'a€b'`, 'has a character that a header cannot have'],
  [`'a\\nb'`, 'contains a line break'],
  ['null', 'cannot be null'],
  ['undefined', 'cannot be a undefined'],
  ['{ a: 1 }', 'cannot be a object'],
  [`['a', Symbol('b')]`, 'cannot be a symbol'],
])('a header of %s is an error, and not left out', async (value, says) => {
  const code = withStep(`$.respond({ status: 200, headers: { 'x-a': ${value} } });`);
  const { outcome, record } = await runStep(sandbox.run, code);
  expect(outcome).toMatchObject({ ok: false, fault: { message: expect.stringContaining(says) } });
  expect(record.responses).toEqual([]);
  const sent = await runStep(
    sandbox.run,
    withStep(`$.send.http({ url: 'http://a.example/', headers: { 'x-a': ${value} } });`),
  );
  expect(sent.outcome).toMatchObject({ ok: false, fault: { message: expect.stringContaining(`header 'x-a'`) } });
});

test('respond can be taken out of $, and takes a status of digits', async () => {
  const code = withStep(`const { respond, send, export: put } = $; respond({ status: '201', body: 'made' });
    send.http({ url: 'http://a.example/' }); put('a', 1);`);
  const { outcome, record } = await runStep(sandbox.run, code);
  expect(outcome.ok).toBe(true);
  expect(record).toMatchObject({
    responses: [{ response: { status: 201 } }],
    sends: [{ kind: 'http' }],
    exports: [['a', 1]],
  });
});

const send = (data: string, more = '') =>
  runStep(sandbox.run, `${IMPORTS}${withStep(`$.send.http({ url: 'http://a.example/', data: ${data}${more} });`)}`);
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A body, the form in which it is kept, and the content type that `fetch` would set. */
const SENT: [data: string, kept: object, type: string | undefined][] = [
  [`'text'`, { data: 'text' }, undefined],
  [`{ a: 1 }`, { data: { a: 1 } }, undefined],
  [`new URLSearchParams({ a: 1 })`, { data: 'a=1' }, 'application/x-www-form-urlencoded;charset=UTF-8'],
  [`Buffer.from([0, 255])`, { data_base64: 'AP8=' }, undefined],
  [`new Uint16Array([1])`, { data_base64: 'AQA=' }, undefined],
  [`new Uint8Array([1, 2]).buffer`, { data_base64: 'AQI=' }, undefined],
  [`new Blob(['ab'], { type: 'text/csv' })`, { data_base64: base64('ab') }, 'text/csv'],
  [`new Blob(['ab'])`, { data_base64: base64('ab') }, undefined],
  [`new Response('abc').body`, { data_base64: base64('abc') }, undefined],
  [`stream.Readable.from(['a', 'b'])`, { data_base64: base64('ab') }, undefined],
  [`stream.Readable.from([Buffer.from([1]), Buffer.from([2])])`, { data_base64: 'AQI=' }, undefined],
  [
    `(async function* () { await new Promise((r) => setTimeout(r, 5)); yield 'late'; })()`,
    { data_base64: base64('late') },
    undefined,
  ],
];

test.each(SENT)('$.send.http of %s sends the same as fetch', async (data, kept, type) => {
  const { outcome, record } = await send(data);
  expect(outcome).toMatchObject({ ok: true });
  const headers = type === undefined ? {} : { headers: { 'content-type': type } };
  expect(record.sends).toEqual([{ kind: 'http', payload: { url: 'http://a.example/', ...headers, ...kept } }]);
});

test('a form has its boundary in the type; a type that is given holds', async () => {
  const { record } = await send(
    `(() => { const f = new FormData(); f.append('a', new Blob(['x']), 'x.txt'); return f; })()`,
  );
  const payload = record.sends[0]?.payload as { data_base64?: string; data?: string; headers: Record<string, string> };
  const body = payload.data ?? Buffer.from(payload.data_base64 ?? '', 'base64').toString();
  const [, boundary = '-'] = /^multipart\/form-data; boundary=(.+)$/.exec(payload.headers['content-type'] ?? '') ?? [];
  expect(body.split(boundary)).toHaveLength(3);
  expect(body).toContain('filename="x.txt"');
  const own = await send(`Buffer.from('a')`, `, headers: { 'Content-Type': 'image/png' }`);
  expect(own.record.sends[0]?.payload).toMatchObject({ headers: { 'Content-Type': 'image/png' }, data_base64: 'YQ==' });
});

test('a body that cannot be sent is an error, and a stream is read within the limit of the run', async () => {
  expect((await send(`new Map()`)).outcome).toMatchObject({
    ok: false,
    fault: { message: expect.stringContaining('and no Map') },
  });
  const endless = `new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(65_536)); } })`;
  expect(await send(endless)).toMatchObject({
    outcome: { ok: false, fault: { message: expect.stringContaining('maxRunOutputBytes') } },
    record: { sends: [] },
  });
  const broken = `new ReadableStream({ start(c) { c.error(new Error('it broke off')); } })`;
  expect(await send(broken)).toMatchObject({
    outcome: { ok: false, fault: { message: expect.stringContaining('it broke off') } },
    record: { sends: [] },
  });
});

test('a stream of objects is refused, not sent as [object Object]', async () => {
  const code = `${IMPORTS}${withStep('await $.respond({ body: stream.Readable.from([{ a: 1 }]) });')}`;
  const { outcome, record } = await runStep(sandbox.run, code);
  expect(outcome).toMatchObject({ ok: false, fault: { message: expect.stringContaining('text and bytes') } });
  expect(record.responses).toEqual([]);
});

test('headers of one name in other letters stand together, and cookies apart', async () => {
  const headers = `{ 'X-A': '1', 'x-a': ['2', 3], 'Set-Cookie': 'a=1', 'set-cookie': ['b=2'] }`;
  const { record } = await runStep(sandbox.run, withStep(`$.respond({ headers: ${headers} });`));
  expect(record.responses[0]?.response.headers).toMatchObject({ 'X-A': '1, 2, 3' });
});

const LOST = (what: string) => expect.stringContaining(what);

test.each([
  [`this.$emit(Promise.resolve(1))`, '$emit: the event is a Promise, of which JSON has nothing: await it'],
  [`this.$emit({ a: new Map([[1, 2]]) })`, '$emit: the event.a is a Map, of which JSON has nothing'],
  [`this.db.set('k', new Set([1]))`, "The value for 'k' is a Set, of which JSON has nothing"],
  [`this.db.set('k', { e: new Error('x') })`, "The value for 'k'.e is an Error, of which JSON has nothing"],
  [`this.http.respond({ status: 200, body: { e: new Error('x') } })`, 'respond: body.e is an Error'],
  [`this.http.respond({ status: 204, body: 'x' })`, 'an answer with the status 204 has no body'],
  [`this.http.respond({ status: 200, boddy: 'x' })`, 'respond knows no boddy'],
])('%s is done, and the log names the loss', async (call, told) => {
  const { outcome, host } = await sandbox.run(`export default { name: 'x', version: '1', run() { ${call} } }`, {
    props: { http: { kind: 'http', endpoint: 'http://a.example/' }, db: { kind: 'db' } },
  });
  expect(outcome).toMatchObject({ ok: true });
  expect(host.messages()).toEqual([LOST(told)]);
});

test.each([
  // 29 bytes are the head of an event, and 65 the key of a value with what each value counts for.
  ['this.$emit(value)', 65_536 - 29],
  [`this.db.set('k', value)`, 65_536 - 65],
])('%s is done when the run has no room left for the warning', async (call, room) => {
  const run = `const value = { m: new Map(), t: 'x'.repeat(${room - '{"m":{},"t":""}'.length}) }; ${call};`;
  const { outcome, host } = await sandbox.run(`export default { name: 'x', version: '1', run() { ${run} } }`, {
    props: { db: { kind: 'db' } },
    account: { maxRunOutputBytes: 65_536, maxDbValueBytes: 65_536 },
  });
  expect(outcome).toMatchObject({ ok: true });
  expect(host.events.length + host.writes.length).toBe(1);
  expect(host.messages()).toEqual([]);
});

test('a result or export of a step that JSON cannot hold is reported too', async () => {
  const { host } = await runStep(sandbox.run, withStep(`$.export('m', new Map()); return new Set([1]);`));
  expect(host.messages()).toEqual([LOST("The export 'm' is a Map"), LOST('What the step returns is a Set')]);
});
