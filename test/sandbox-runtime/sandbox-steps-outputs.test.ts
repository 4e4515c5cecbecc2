import { describe, expect, test } from 'vitest';
import { sandboxForFile } from '../support/sandbox-kit.ts';
import { CANCEL_URL, RESUME_URL, runStep, type StepOptions, withStep } from '../support/step-kit.ts';

const sandbox = sandboxForFile();
const body = (text: string, options?: StepOptions) => runStep(sandbox.run, withStep(text), options);
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

describe('$.export', () => {
  test('exports arrive at once, in order, and also of a step that fails', async () => {
    const ran =
      await body(`$.export('a', { n: 1 }); $.export('a', 2); $.export('$summary', 'Did ' + 3); $.export('none');
      throw new Error('later');`);
    expect(ran.outcome).toMatchObject({ fault: { message: 'later' } });
    expect(ran.record.exports).toEqual([
      ['a', { n: 1 }],
      ['a', 2],
      ['$summary', 'Did 3'],
      ['none', null],
    ]);
  });

  test.each([
    ['$.export("", 1)', /non-empty/],
    ['$.export(5, 1)', /takes a name/],
    ['$.export("$return_value", 1)', /cannot be the name/],
    ['$.export("__proto__", 1)', /cannot be the name/],
    ['$.export("a", 1n)', /export 'a'.*BigInt/],
    ['$.export("a", () => {})', /a function/],
  ])('%s is refused', async (call, message) => {
    const ran = await body(call);
    expect(ran.outcome).toMatchObject({
      ok: false,
      fault: { code: 'COMPONENT_ERROR', message: expect.stringMatching(message) },
    });
    expect(ran.record.exports).toEqual([]);
  });

  test('a summary is text, and cut where it is long', async () => {
    const ran = await body(`$.export('$summary', 'x'.repeat(5000)); $.export('$summary', { a: 1 });`);
    expect(ran.record.exports.map(([, value]) => String(value).length)).toEqual([1_000, 7]);
  });

  test('exports count for the output of the run, the small ones too', async () => {
    const account = { maxRunOutputBytes: 65_536 };
    const large = await body(`try { $.export('a', 'x'.repeat(70_000)) } catch {}`, {
      account,
    });
    expect(large.outcome).toMatchObject({ fault: { code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes' } } });
    const many = await body('for (let i = 0; i < 2000; i++) $.export(String(i), 1)', { account });
    expect(many.outcome).toMatchObject({ fault: { code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes' } } });
    expect(many.record.exports.length).toBeLessThan(1_000);
  });

  test('an export over its own limit is refused where it is made, with that limit', async () => {
    const ran = await body(
      `$.export('fits', 'x'.repeat(1_022));
       try { $.export('large', 'x'.repeat(1_023)) } catch (error) { $.export('said', error.name) }
       $.export('larger', 'ö'.repeat(600));`,
      { account: { maxExportBytes: 1_024 } },
    );
    expect(ran.record.exports.map(([name]) => name)).toEqual(['fits', 'said']);
    expect(ran.outcome).toMatchObject({
      fault: { code: 'OUTPUT_LIMIT', limit: { name: 'maxExportBytes', value: 1_024, used: 1_202 } },
    });
  });
});

describe('$.respond', () => {
  test('answers with what http.respond takes, and says whether it is for now', async () => {
    const ran = await body(
      `await $.respond({ status: 201, headers: { 'x-a': 'b' }, body: { a: 1 }, immediate: true });`,
    );
    const [answer] = ran.record.responses;
    expect(answer).toMatchObject({
      immediate: true,
      response: { status: 201, headers: { 'x-a': 'b', 'content-type': 'application/json' } },
    });
    expect(text(answer?.response.body ?? new Uint8Array())).toBe('{"a":1}');
    const later = await body(`$.respond({ status: 200, body: 'late' });`);
    expect(later.record.responses).toMatchObject([{ immediate: false }]);
  });

  test('the first of two answers of a step counts', async () => {
    const ran = await body(`$.respond({ status: 200 }); await $.respond({ status: 500, immediate: true });`);
    expect(ran.record.responses).toMatchObject([{ response: { status: 200 }, immediate: false }]);
    expect(ran.host.messages()[0]).toContain('a second time');
  });

  test('an answer that is none is an error at its line', async () => {
    const ran = await body(`\n$.respond({ status: 999 });`);
    expect(ran.outcome).toMatchObject({ fault: { message: expect.stringContaining('100 to 599') } });
    expect(ran.outcome).toMatchObject({ fault: { stack: expect.stringContaining(':2:') } });
  });
});

describe('$.flow', () => {
  const links = { resume_url: RESUME_URL, cancel_url: CANCEL_URL };

  test('exit ends with its reason, whether it is returned or not, and returns nothing', async () => {
    const returned = await body(`return $.flow.exit('nothing new');`);
    expect(returned).toMatchObject({
      returned: undefined,
      record: { flows: [{ kind: 'exit', reason: 'nothing new' }] },
    });
    const called = await body(`$.flow.exit(); return 5;`);
    expect(called).toMatchObject({ returned: 5, record: { flows: [{ kind: 'exit' }] } });
    expect(called.record.flows[0]).not.toHaveProperty('reason');
  });

  test('delay, suspend and rerun answer the links, with the defaults of the interface', async () => {
    expect(await body('return $.flow.suspend();')).toMatchObject({
      returned: links,
      record: { flows: [{ kind: 'suspend', ms: 86_400_000 }] },
    });
    expect(await body('return $.flow.delay(1500.2);')).toMatchObject({
      returned: links,
      record: { flows: [{ kind: 'delay', ms: 1501 }] },
    });
    expect((await body('return $.flow.rerun(1000, { page: 2 }, 3);')).record.flows).toEqual([
      { kind: 'rerun', ms: 1000, context: '{"page":2}', maxRetries: 3 },
    ]);
    expect((await body('return $.flow.rerun(5);')).record.flows).toEqual([{ kind: 'rerun', ms: 5, maxRetries: 10 }]);
    expect((await body('return $.flow.rerun(5, null, null);')).record.flows).toEqual([
      { kind: 'rerun', ms: 5, context: 'null', maxRetries: 10 },
    ]);
  });

  test('the last request to $.flow counts, and exit counts over all', async () => {
    expect((await body('$.flow.delay(1); $.flow.suspend(2);')).record.flows).toEqual([{ kind: 'suspend', ms: 2 }]);
    expect((await body('$.flow.exit("x"); $.flow.delay(1);')).record.flows).toEqual([{ kind: 'exit', reason: 'x' }]);
    expect((await body('$.flow.delay(1); throw new Error("no");')).record.flows).toEqual([]);
  });

  test.each([
    '$.flow.delay()',
    '$.flow.delay(-1)',
    '$.flow.delay(Infinity)',
    '$.flow.delay("5")',
    '$.flow.suspend(366 * 86400000)',
    '$.flow.suspend(NaN)',
    '$.flow.rerun(-1)',
    '$.flow.rerun(1, 1, 1.5)',
    '$.flow.rerun(1, 1, 1001)',
    '$.flow.rerun(1, 1n)',
  ])('%s is refused', async (call) => {
    const ran = await body(call);
    expect(ran.outcome).toMatchObject({
      ok: false,
      fault: { code: 'COMPONENT_ERROR', message: expect.stringContaining('$.flow.') },
    });
    expect(ran.record.flows).toEqual([]);
  });
});

describe('$.send', () => {
  test('every kind arrives with its own fields and no others', async () => {
    const ran = await body(`
      $.send.http({ method: 'PUT', url: 'https://a.test/x?y=1', data: { a: 1 }, headers: { b: 'c' }, params: { d: 1 },
        auth: { username: 'u', password: 'p' }, other: 1 });
      $.send.http({ url: 'http://a.test' });
      $.send.email({ subject: 's', text: 't', html: '<p>', to: 'x' });
      $.send.s3({ bucket: 'b', prefix: 'p', payload: [1] });
      $.send.emit({ name: 'Yoda' }); $.send.emit({ a: 1 }, 'orders'); $.send.emit({ name: 'orders', raw_event: { a: 1 } });
      $.send.emit({ raw_event: 1, name: 'x', more: 2 });
      $.send.sse({ channel: 'c', payload: { a: 1 } });`);
    expect(ran.outcome).toMatchObject({ ok: true });
    expect(ran.record.sends).toEqual([
      {
        kind: 'http',
        payload: {
          url: 'https://a.test/x?y=1',
          method: 'PUT',
          data: { a: 1 },
          headers: { b: 'c' },
          params: { d: 1 },
          auth: { username: 'u', password: 'p' },
        },
      },
      { kind: 'http', payload: { url: 'http://a.test' } },
      { kind: 'email', payload: { subject: 's', text: 't', html: '<p>' } },
      { kind: 's3', payload: { bucket: 'b', prefix: 'p', payload: [1] } },
      { kind: 'emit', payload: { raw_event: { name: 'Yoda' } } },
      { kind: 'emit', payload: { raw_event: { a: 1 }, name: 'orders' } },
      { kind: 'emit', payload: { raw_event: { a: 1 }, name: 'orders' } },
      { kind: 'emit', payload: { raw_event: { raw_event: 1, name: 'x', more: 2 } } },
      { kind: 'sse', payload: { channel: 'c', payload: { a: 1 } } },
    ]);
    expect(ran.host.messages()).toEqual([
      '$.send.http knows no other: it takes method, url, data, headers, params, auth',
      '$.send.email knows no to: it takes subject, text, html',
    ]);
  });

  test.each([
    ['$.send.http()', /takes an object/],
    ['$.send.http({ url: "ftp://a.test" })', /http or https/],
    ['$.send.http({ url: "http://" })', /http or https/],
    ['$.send.http({})', /needs url/],
    ['$.send.http({ url: "http://a.test", method: "A B" })', /method/],
    ['$.send.http({ url: "http://a.test", headers: "a" })', /headers must be an object/],
    ['$.send.http({ url: "http://a.test", auth: { username: "u" } })', /auth/],
    ['$.send.http({ url: "http://a.test", data: 1n })', /BigInt/],
    ['$.send.http({ url: "http://a.test", method: "get", data: {} })', /a get request cannot have data/],
    ['$.send.email({ text: "t" })', /needs subject/],
    ['$.send.email({ subject: "s" })', /text or html/],
    ['$.send.s3({ prefix: "p", payload: 1 })', /needs bucket/],
    ['$.send.s3({ bucket: "b", prefix: "p" })', /needs a payload/],
    ['$.send.emit(1, 5)', /needs name/],
    ['$.send.sse({ payload: 1 })', /needs channel/],
  ])('%s is refused', async (call, message) => {
    const ran = await body(call);
    expect(ran.outcome).toMatchObject({
      ok: false,
      fault: { code: 'COMPONENT_ERROR', message: expect.stringMatching(message) },
    });
    expect(ran.record.sends).toEqual([]);
  });

  test('more sends than the account allows end the step, also where it catches the error', async () => {
    const account = { maxSendsPerRun: 3 };
    const ran = await body(
      'for (let i = 0; i < 5; i++) try { $.send.emit(i) } catch (error) { console.log(error.limit.name) }',
      { account },
    );
    expect(ran.outcome).toMatchObject({
      fault: { code: 'OUTPUT_LIMIT', limit: { name: 'maxSendsPerRun', value: 3, used: 4 } },
    });
    expect(ran.record.sends).toHaveLength(3);
    expect(ran.host.messages()).toEqual(['maxSendsPerRun', 'maxSendsPerRun']);
  });
});

test('a step can emit as a source does', async () => {
  const ran = await body(`this.$emit({ a: 1 }, { name: 'orders', summary: 's' });`);
  expect(ran.host.events).toMatchObject([{ data: '{"a":1}', name: 'orders', summary: 's' }]);
});
