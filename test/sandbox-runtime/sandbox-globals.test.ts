import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { recordingHost, textAnswer } from '../support/run-host.ts';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

/** Value of an expression in the guest; the expression may use await. */
async function value(expression: string, before = ''): Promise<unknown> {
  const { outcome, host } = await sandbox.run(withRun(`this.$emit(${expression})`, before), {
    host: recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, 'answer')) }),
  });
  if (!outcome.ok) throw new Error(`${outcome.fault.message}\n${outcome.fault.stack}`);
  return host.data()[0];
}

describe('web globals', () => {
  test('URL and URLSearchParams', async () => {
    expect(await value(`new URL('../x?a=1&a=2#h', 'https://u.example:8443/b/c/d').href`)).toBe(
      'https://u.example:8443/b/x?a=1&a=2#h',
    );
    expect(await value(`[...new URLSearchParams('a=1&b=ü+x')]`)).toEqual([
      ['a', '1'],
      ['b', 'ü x'],
    ]);
    expect(await value(`URL.canParse('nope')`)).toBe(false);
  });

  test('text is encoded and decoded like in Node, also in pieces and when it is broken', async () => {
    const text = `aé€😀${'x'.repeat(5000)}ß`;
    expect(await value(`[...new TextEncoder().encode(${JSON.stringify(text)})]`)).toEqual([
      ...new TextEncoder().encode(text),
    ]);
    expect(await value(`[...new TextEncoder().encode('\\ud800x')]`)).toEqual([...new TextEncoder().encode('\ud800x')]);
    expect(await value(`new TextDecoder().decode(new TextEncoder().encode(${JSON.stringify(text)}))`)).toBe(text);
    expect(await value(`new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff]))`)).toBe('a\ufffd');
    expect(
      await value(
        `(() => { const d = new TextDecoder(); const b = new TextEncoder().encode('€😀é'); let t = ''; for (const x of b) t += d.decode(new Uint8Array([x]), { stream: true }); return t + d.decode() })()`,
      ),
    ).toBe('€😀é');
    expect(
      await value(
        `(() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])); return 'no' } catch (e) { return e.name } })()`,
      ),
    ).toBe('TypeError');
    expect(await value(`new TextDecoder('utf-16le').decode(new Uint8Array([0x61, 0, 0xfc, 0]))`)).toBe('aü');
  });

  test('structuredClone, atob, btoa, queueMicrotask', async () => {
    expect(await value(`[...structuredClone(new Map([[1, { a: new Date(5) }]])).get(1).a.toISOString()].length`)).toBe(
      24,
    );
    expect(await value(`atob(btoa('hey'))`)).toBe('hey');
    expect(await value(`await new Promise((resolve) => queueMicrotask(() => resolve(1)))`)).toBe(1);
  });

  test('AbortController, AbortSignal.any and events', async () => {
    expect(
      await value(
        `(() => { const c = new AbortController(); const any = AbortSignal.any([c.signal, new AbortController().signal]); let seen = 0; any.addEventListener('abort', () => seen++); c.abort(); c.abort(); return [seen, any.aborted, any.reason.name] })()`,
      ),
    ).toEqual([1, true, 'AbortError']);
    expect(
      await value(
        `(() => { const t = new EventTarget(); const got = []; const f = (e) => got.push(e.type); t.addEventListener('a', f); t.addEventListener('a', f); t.dispatchEvent(new Event('a')); t.removeEventListener('a', f); t.dispatchEvent(new Event('a')); return got })()`,
      ),
    ).toEqual(['a']);
  });

  test('Headers, Request and Response', async () => {
    expect(
      await value(
        `(() => { const h = new Headers({ A: '1' }); h.append('a', '2'); h.append('Set-Cookie', 'x=1'); h.append('set-cookie', 'y=2'); return [[...h], h.getSetCookie(), h.has('A')] })()`,
      ),
    ).toEqual([
      [
        ['a', '1, 2'],
        ['set-cookie', 'x=1'],
        ['set-cookie', 'y=2'],
      ],
      ['x=1', 'y=2'],
      true,
    ]);
    expect(await value(`await new Response(JSON.stringify({ a: 1 }), { status: 201 }).clone().json()`)).toEqual({
      a: 1,
    });
    expect(
      await value(
        `(() => { const r = new Request('http://a.example', { method: 'patch', body: 'x' }); return [r.url, r.method, r.headers.get('content-type')] })()`,
      ),
    ).toEqual(['http://a.example/', 'PATCH', 'text/plain;charset=UTF-8']);
    expect(
      await value(
        `await (async () => { const r = new Response('x'); await r.text(); try { await r.text() } catch (e) { return [r.bodyUsed, e.name] } })()`,
      ),
    ).toEqual([true, 'TypeError']);
  });

  test('form bodies are sent as browsers send them', async () => {
    const host = recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, '')) });
    await sandbox.run(
      withRun(`
        await fetch('http://a.example/', { method: 'POST', body: new URLSearchParams({ a: 'ü' }) });
        const form = new FormData(); form.append('n', '1'); form.append('f', new Blob(['hi'], { type: 'text/x' }), 'a"b.txt');
        await fetch('http://a.example/', { method: 'POST', body: form });`),
      { host },
    );
    const [first, second] = host.requests;
    expect([new Map(first!.headers).get('content-type'), Buffer.from(first!.body!).toString()]).toEqual([
      'application/x-www-form-urlencoded;charset=UTF-8',
      'a=%C3%BC',
    ]);
    const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(new Map(second!.headers).get('content-type')!)![1];
    expect(Buffer.from(second!.body!).toString()).toBe(
      [
        `--${boundary}`,
        'Content-Disposition: form-data; name="n"',
        '',
        '1',
        `--${boundary}`,
        'Content-Disposition: form-data; name="f"; filename="a%22b.txt"',
        'Content-Type: text/x',
        '',
        'hi',
        `--${boundary}--`,
        '',
      ].join('\r\n'),
    );
  });

  test('a URL that cannot be fetched is refused in the component', async () => {
    for (const url of ['/relative', 'ftp://a.example', 'http://user:pw@a.example/', 'file:///etc/passwd']) {
      expect(await value(`await fetch(${JSON.stringify(url)}).then(() => 'fetched', (e) => e.name)`)).toBe('TypeError');
    }
  });

  test('crypto agrees with Node', async () => {
    expect(
      await value(`Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('x'))).toString('hex')`),
    ).toBe(createHash('sha256').update('x').digest('hex'));
    const hmac = createHmac('sha256', 'key').update('x').digest('hex');
    expect(
      await value(`await (async () => {
        const key = await crypto.subtle.importKey('raw', new TextEncoder().encode('key'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
        const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode('x'));
        return [Buffer.from(signature).toString('hex'), await crypto.subtle.verify('HMAC', key, signature, new TextEncoder().encode('x')), await crypto.subtle.verify('HMAC', key, signature, new TextEncoder().encode('y'))] })()`),
    ).toEqual([hmac, true, false]);
    expect(await value(`[crypto.randomUUID(), crypto.randomUUID()]`)).toEqual([
      expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      expect.stringMatching(/-/),
    ]);
    expect(new Set((await value(`[...crypto.getRandomValues(new Uint8Array(64))]`)) as number[]).size).toBeGreaterThan(
      10,
    );
  });

  test('two isolates draw different random numbers', async () => {
    const draws = await Promise.all([value('Math.random()'), value('Math.random()'), value('Math.random()')]);
    expect(new Set(draws).size).toBe(3);
  });
});

describe('timers', () => {
  test('they fire in order of time, repeat, and can be cleared', async () => {
    expect(
      await value(`await new Promise((resolve) => { const got = []; setTimeout(() => got.push('c'), 400); setTimeout((x) => got.push(x), 5, 'b'); setImmediate(() => got.push('a'));
        const no = setTimeout(() => got.push('no'), 10); clearTimeout(no); no.unref();
        let n = 0; const every = setInterval(() => { if (++n === 3) { clearInterval(every); got.push('3') } }, 5);
        setTimeout(() => resolve(got), 500) })`),
    ).toEqual(['a', 'b', '3', 'c']);
  });
});

describe('modules of Node', () => {
  test('crypto', async () => {
    const before = `import { createHmac, createHash, timingSafeEqual, randomBytes, randomInt } from 'node:crypto'; import crypto2 from 'crypto';`;
    expect(
      await value(`createHmac('sha256', 'k').update('a').update(Buffer.from('b')).digest('base64url')`, before),
    ).toBe(createHmac('sha256', 'k').update('ab').digest('base64url'));
    expect(await value(`crypto2.createHash('md5').update('é', 'utf8').digest().toString('hex')`, before)).toBe(
      createHash('md5').update('é').digest('hex'),
    );
    expect(
      await value(
        `[timingSafeEqual(Buffer.from('ab'), Buffer.from('ab')), timingSafeEqual(Buffer.from('ab'), Buffer.from('ac')), randomBytes(9).length, randomInt(5, 6)]`,
        before,
      ),
    ).toEqual([true, false, 9, 5]);
    expect(
      await value(
        `(() => { try { timingSafeEqual(Buffer.from('ab'), Buffer.from('abc')) } catch (e) { return e.name } })()`,
        before,
      ),
    ).toBe('RangeError');
  });

  test('buffer, url, querystring, events, util, process, timers', async () => {
    expect(await value(`Buffer.from('aGk', 'base64').toString()`, `import { Buffer } from 'buffer';`)).toBe('hi');
    expect(
      await value(
        `[parse('https://u:p@h.example:8/p?a=1#x', true).query, parse('/p?a=1').pathname, format({ protocol: 'https', host: 'h', pathname: '/x' })]`,
        `import { parse, format } from 'url';`,
      ),
    ).toEqual([{ a: '1' }, '/p', 'https://h/x']);
    expect(
      await value(`[qs.parse('a=1&a=2&b=%20x'), qs.stringify({ a: [1, 2], b: 'ü' })]`, `import qs from 'querystring';`),
    ).toEqual([{ a: ['1', '2'], b: ' x' }, 'a=1&a=2&b=%C3%BC']);
    expect(
      await value(
        `(() => { const e = new EventEmitter(); let got; e.once('x', (v) => { got = v }); e.emit('x', 5); return got })()`,
        `import { EventEmitter } from 'events';`,
      ),
    ).toBe(5);
    expect(
      await value(
        `[format('%s %j', 'a', { b: 1 }), isDeepStrictEqual({ a: [1] }, { a: [1] }), await promisify((x, cb) => cb(null, x + 1))(1)]`,
        `import { format, isDeepStrictEqual, promisify } from 'util';`,
      ),
    ).toEqual(['a {"b":1}', true, 2]);
    expect(
      await value(
        `[Object.prototype.toString.call(process), typeof process.version, process.env.PATH ?? 'none', await new Promise((r) => process.nextTick(r, 'ticked'))]`,
      ),
    ).toEqual(['[object process]', 'string', 'none', 'ticked']);
  });
});

test('console shows values as they are read best', async () => {
  const { host } = await sandbox.run(
    withRun(`class A { constructor() { this.x = 1 } }
      const circular = { name: 'c' }; circular.self = circular;
      console.log(new A(), [1, [2, [3, [4, [5, [6]]]]]], new Set(['s']), circular, () => 1, Symbol('y'), 12n, new Date(0), /r/g, Buffer.from('a'));
      console.log('100%', 5, '%s', null); console.log('%s %s', 'one'); console.error(new TypeError('broken')); console.log(Array.from({ length: 150 }, (_, i) => i).length, new Error('x', { cause: 'y' }).cause)`),
  );
  const [first, percent, missing, error] = host.messages();
  expect(first).toContain('A { x: 1 }');
  expect(first).toContain('[Circular *1]');
  expect(first).toContain('1970-01-01T00:00:00.000Z');
  expect(percent).toBe('100% 5 %s null');
  expect(missing).toBe('one %s');
  expect(error).toMatch(/^TypeError: broken\n {4}at /);
});
