import { expect, test } from 'vitest';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();
const props = { http: { kind: 'http', endpoint: 'http://localhost/e/1' } } as const;

async function respond(
  call: string,
): Promise<{ status: number; headers: Record<string, string | string[]>; body: string } | string> {
  const { outcome, host } = await sandbox.run(withRun(call), { props });
  if (!outcome.ok) return outcome.fault.message;
  const [response] = host.responses;
  if (response === undefined) return 'nothing';
  return { ...response, body: Buffer.from(response.body).toString('latin1') };
}

test('a value without a JSON form is reported, and not sent as {}', async () => {
  const body = (text: string) => respond(`this.http.respond({ status: 200, body: ${text} })`);
  for (const iterator of ['(function* () { yield 1; })()', 'new Map([[1, 2]]).entries()', '[1].values().map((x) => x)'])
    expect(await body(iterator)).toContain('cannot be a Iterator, which has no JSON: spread it into a list');
  expect(await body('(async function* () { yield "a"; yield "b"; })()')).toMatchObject({ body: 'ab' });
  expect(await body('Object.create({ inherited: 1 })')).toMatchObject({ body: '{}' });
});

test('headers may be pairs, as fetch takes them; anything else in their place is told', async () => {
  const headers = (text: string) => respond(`this.http.respond({ status: 200, headers: ${text} })`);
  const both = { 'x-a': '1', 'x-b': '2' };
  expect(await headers(`[['x-a', '1'], ['x-b', 2]]`)).toMatchObject({ headers: both });
  expect(await headers(`new Map([['x-a', '1'], ['x-b', 2]])`)).toMatchObject({ headers: both });
  expect(await headers(`new Headers([['x-a', '1'], ['x-b', '2']])`)).toMatchObject({ headers: both });
  for (const wrong of [`['x-a: 1']`, `[['x-a']]`, `[[1, 2]]`, `new Set(['x-a'])`])
    expect(await headers(wrong)).toContain('headers must be an object, or pairs such as ["x-name", "value"]');
});

test('an object is JSON, text is text, bytes are bytes, nothing is nothing', async () => {
  expect(await respond(`await this.http.respond({ status: 200, body: { a: [1] } })`)).toEqual({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"a":[1]}',
  });
  expect(
    await respond(`this.http.respond({ status: 202, headers: { 'X-A': 1, 'Content-Type': 'text/x' }, body: 'hi' })`),
  ).toEqual({
    status: 202,
    headers: { 'X-A': '1', 'Content-Type': 'text/x' },
    body: 'hi',
  });
  expect(await respond(`this.http.respond({ status: 200, body: Buffer.from('00ff10', 'hex') })`)).toMatchObject({
    body: '\u0000\u00ff\u0010',
  });
  expect(
    await respond(`this.http.respond({ status: 200, body: new Uint8Array([1, 2, 3, 4]).subarray(1, 3) })`),
  ).toMatchObject({ body: '\u0002\u0003' });
  expect(await respond(`this.http.respond({ status: 204 })`)).toEqual({ status: 204, headers: {}, body: '' });
  expect(
    await respond(`this.http.respond({ status: 200, headers: { 'content-type': 'application/hal+json' }, body: {} })`),
  ).toMatchObject({
    headers: { 'content-type': 'application/hal+json' },
  });
});

test('each cookie stays a line of its own, other lists become one', async () => {
  const headers = `{ 'Set-Cookie': ['a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT', 'b=2'], 'X-List': ['x', 'y'] }`;
  expect(await respond(`this.http.respond({ status: 200, headers: ${headers} })`)).toMatchObject({
    headers: { 'set-cookie': ['a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT', 'b=2'], 'X-List': 'x, y' },
  });
  const made = `const h = new Headers(); h.append('set-cookie', 'a=1'); h.append('set-cookie', 'b=2');`;
  expect(await respond(`${made} this.http.respond({ status: 200, headers: h })`)).toMatchObject({
    headers: { 'set-cookie': ['a=1', 'b=2'] },
  });
  expect(
    await respond(`this.http.respond({ status: 200, headers: { 'Set-Cookie': ['a=1', 'b\\r\\nX: y'] } })`),
  ).toContain('line break');
});

test('the answer leaves before the run ends', async () => {
  const { outcome, host } = await sandbox.run(
    withRun(`this.http.respond({ status: 200 }); this.$emit('after'); throw new Error('later')`),
    { props },
  );
  expect(outcome.ok).toBe(false);
  expect(host.responses).toHaveLength(1);
  expect(host.data()).toEqual(['after']);
});

test('a status that is none is an error at the call, also without await', async () => {
  for (const status of ['99', '600', '200.5', "'2x0'", 'undefined', 'NaN', '{}']) {
    expect(await respond(`this.http.respond({ status: ${status} })`)).toMatch(
      /^TypeError: respond: status must be an integer from 100 to 599, not /,
    );
  }
  expect(await respond(`this.http.respond()`)).toContain('respond takes an object');
});

test('headers that would break the answer apart are refused', async () => {
  expect(await respond(`this.http.respond({ status: 200, headers: { 'X-A': 'a\\r\\nSet-Cookie: x' } })`)).toContain(
    "the value of header 'X-A' contains a line break",
  );
  expect(await respond(`this.http.respond({ status: 200, headers: { 'X A': '1' } })`)).toContain(
    "'X A' is not a valid header name",
  );
});

test('headers beyond the bounds of an answer are an error at the call, with the limit, and others go out', async () => {
  const lines = (count: number) => `Object.fromEntries(Array.from({ length: ${count} }, (_, at) => ['x-' + at, '']))`;
  const tooMany = { name: 'maxFetchHeaders', value: 1_000, used: 1_001 };
  const tooLong = (used: number) => ({ name: 'maxFetchHeaderBytes', value: 65_536, used });
  for (const [headers, limit] of [
    [lines(1_001), tooMany],
    [`{ 'set-cookie': Array(1_001).fill('a=1') }`, tooMany],
    [`{ 'x-a': 'x'.repeat(65_534) }`, tooLong(65_537)],
    [`{ 'set-cookie': ['a=1', ';'.repeat(65_536 - 20)] }`, tooLong(65_539)],
    [`{ ['x'.repeat(257)]: '' }`, { name: 'maxHeaderNameChars', value: 256, used: 257 }],
  ] as const) {
    const call = `this.http.respond({ status: 200, headers: ${headers} })`;
    const { outcome, host } = await sandbox.run(withRun(call), { props });
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'RESOURCE_LIMIT', limit } });
    expect(await respond(call)).toContain(`the limit ${limit.name} is `);
    expect(host.responses).toEqual([]);
    const caught = await sandbox.run(withRun(`try { ${call} } catch (error) { this.$emit(error.limit) }`), { props });
    expect(caught.host.data()).toEqual([limit]);
  }
  for (const headers of [
    lines(1_000),
    `{ 'x-a': 'x'.repeat(65_533) }`,
    `{ 'set-cookie': Array(1_000).fill('a=1') }`,
    `{ ['x'.repeat(256)]: '' }`,
  ]) {
    expect(await respond(`this.http.respond({ status: 200, headers: ${headers} })`)).toMatchObject({ status: 200 });
  }
});

test('a second answer in a run is an error in the log, not a crash', async () => {
  const { outcome, host } = await sandbox.run(
    withRun(`this.http.respond({ status: 200, body: 'first' }); this.http.respond({ status: 500 })`),
    { props },
  );
  expect(outcome.ok).toBe(true);
  expect(host.responses.map((response) => response.status)).toEqual([200]);
  expect(host.logs).toMatchObject([{ level: 'error', message: expect.stringContaining('second time') }]);
});
