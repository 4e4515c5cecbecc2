import { expect, test } from 'vitest';
import { recordingHost, textAnswer } from '../support/run-host.ts';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';
import { sameAsNode } from '../support/same-as-node.ts';

/** Node's types call the method deprecated, because servers have better ones. */
type Readable = Omit<Response, 'formData'> & { formData(): Promise<FormData> };

const runBoth = sameAsNode();
const sandbox = sandboxForFile();

test('headers, forms and files are as in Node', async () => {
  const { guest, node } = await runBoth({
    headers: () => {
      const headers = new Headers([
        ['B', ' 2 '],
        ['a', '1'],
        ['b', '3'],
        ['Set-Cookie', 'x'],
        ['set-cookie', 'y'],
      ]);
      headers.delete('A');
      return [[...headers], headers.get('B'), headers.getSetCookie(), new Headers({ x: '1' }).has('X')];
    },
    headerName: () => new Headers({ 'a b': '1' }),
    headerValue: () => new Headers({ a: '1\r\nb: 2' }),
    notLatin: () => new Headers({ a: '€' }),
    whileIterating: () => {
      const headers = new Headers({ a: '1', c: '3' });
      const seen: string[] = [];
      for (const [name] of headers) {
        seen.push(name);
        headers.set('b', '2');
      }
      return seen;
    },
    form: () => {
      const form = new FormData();
      form.append('a', '1');
      form.append('a', 2 as unknown as string);
      form.append('f', new Blob(['hi'], { type: 'Text/Plain' }), 'n.txt');
      form.append('g', new Blob(['x']));
      form.set('a', '3');
      const file = form.get('f') as File;
      return [[...form.keys()], form.getAll('a'), file.name, file.type, file.size, (form.get('g') as File).name];
    },
    blob: async () => {
      const blob = new Blob(['a€', new Uint8Array([98]), new Blob(['c'])], { type: 'X/Y' });
      const part = blob.slice(-2, undefined, 'Z');
      return [blob.size, blob.type, await blob.text(), await part.text(), part.type, [...(await blob.bytes())]];
    },
    file: () => {
      const file = new File(['x'], 'a/b.txt', { type: 'text/x', lastModified: 7 });
      return [file.name, file.type, file.lastModified, file instanceof Blob, Object.prototype.toString.call(file)];
    },
    noParts: () => new Blob('text' as unknown as Blob[]),
    marks: async () => [
      await new Response('\ufeff{"a":1}').json(),
      await new Response('\ufeffa').text(),
      await new Response('\ud800').text(),
      await new Blob(['\ufeffa']).text(),
      await new Request('https://a.example', { method: 'POST', body: '\ufeffa' }).text(),
    ],
  });
  expect(guest).toEqual(node);
});

test('requests and responses are as in Node', async () => {
  const { guest, node } = await runBoth({
    request: async () => {
      const request = new Request('https://a.example/p#h', { method: 'post', body: new URLSearchParams({ a: 'ü' }) });
      const copy = request.clone();
      const again = new Request(request, { headers: { x: '1' } });
      const headers = Object.fromEntries(copy.headers);
      return [request.url, request.method, headers, await copy.text(), request.bodyUsed, [...again.headers.keys()]];
    },
    getWithBody: () => new Request('https://a.example', { method: 'HEAD', body: 'x' } as object),
    relative: () => new Request('/relative'),
    streamWithoutDuplex: () => new Request('https://a.example', { method: 'POST', body: new ReadableStream() }),
    response: async () => {
      const response = new Response('x'.repeat(3), { status: 201, statusText: 'Made' });
      const copy = response.clone();
      const reader = (copy.body as ReadableStream).getReader();
      const { value } = await reader.read();
      const text = await response.text();
      return [response.status, response.statusText, response.ok, text, (value as Uint8Array).length, response.bodyUsed];
    },
    statics: async () => {
      const json = Response.json({ a: 1 }, { status: 202 });
      const redirect = Response.redirect('https://a.example/x', 307);
      return [
        await json.json(),
        json.headers.get('content-type'),
        redirect.status,
        redirect.headers.get('location'),
        Response.error().type,
      ];
    },
    readTwice: async () => {
      const response = new Response('x');
      await response.text();
      return await response.json();
    },
    noContent: () => new Response('x', { status: 204 }),
    urlencoded: async () => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return [...(await (new Response('a=1&b=%C3%BC', { headers }) as Readable).formData())];
    },
    multipart: async () => {
      const form = new FormData();
      form.append('text', 'line\nline');
      form.append('na"me', new File([new Uint8Array([0, 255, 13, 10])], 'ü.bin', { type: 'application/x' }));
      const read = await (new Response(form) as Readable).formData();
      const file = read.get('na"me') as File;
      return [read.get('text'), file.name, file.type, [...(await file.bytes())]];
    },
    brokenMultipart: async () => {
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      return await (new Response('--x\r\nno end', { headers }) as Readable).formData();
    },
    streams: async () => {
      const chunks = ['a', 'b'].map((text) => new TextEncoder().encode(text));
      return await new Response(ReadableStream.from(chunks) as ReadableStream<Uint8Array<ArrayBuffer>>).text();
    },
    wrongChunks: async () => await new Response(ReadableStream.from([1]) as unknown as ReadableStream).text(),
    dataUrl: async () => {
      const response = await fetch('data:text/plain;charset=utf-8;base64,w7w=');
      return [response.status, await response.text()];
    },
  });
  expect(guest).toEqual(node);
});

test('a stream as body is sent whole, and an answer can be read as a stream', async () => {
  const host = recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, 'one two')) });
  const { outcome } = await sandbox.run(
    withRun(`
      const parts = async function* () { yield 'a'; await null; yield new Uint8Array([98]) };
      await fetch('http://a.example/1', { method: 'POST', body: parts(), duplex: 'half' });
      const body = ReadableStream.from(['c', 'd']).pipeThrough(new TextEncoderStream());
      const answer = await fetch('http://a.example/2', { method: 'POST', body, duplex: 'half' });
      let text = '';
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) text += chunk;
      this.$emit([text, answer.bodyUsed, answer.url, answer.type]);`),
    { host },
  );
  expect(outcome.ok).toBe(true);
  expect(host.data()).toEqual([['one two', true, 'http://a.example/2', 'basic']]);
  expect(host.requests.map((request) => Buffer.from(request.body!).toString())).toEqual(['ab', 'cd']);
});

test('a large answer is given out in pieces, and none of it is lost', async () => {
  const host = recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, 'x'.repeat(300_000))) });
  await sandbox.run(
    withRun(`
      const sizes = [];
      for await (const chunk of (await fetch('http://a.example/')).body) sizes.push(chunk.length);
      this.$emit([sizes.length, Math.max(...sizes), sizes.reduce((sum, size) => sum + size)]);`),
    { host },
  );
  expect(host.data()).toEqual([[5, 65_536, 300_000]]);
});

test('a body stream that fails, fails the request, and nothing is sent', async () => {
  const host = recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, '')) });
  await sandbox.run(
    withRun(`
      const body = new ReadableStream({ pull(c) { c.error(new RangeError('broken')) } });
      try { await fetch('http://a.example/', { method: 'POST', body, duplex: 'half' }) } catch (e) { this.$emit(e.name) }`),
    { host },
  );
  expect([host.data(), host.requests]).toEqual([['RangeError'], []]);
});

test('an abort ends a request that is under way and the body of one that was answered', async () => {
  const host = recordingHost({
    fetch: (request, signal) =>
      request.url.endsWith('/slow')
        ? new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ ok: false, message: 'aborted' }));
          })
        : Promise.resolve(textAnswer(request, 'text')),
  });
  await sandbox.run(
    withRun(`
      const slow = await fetch('http://a.example/slow', { signal: AbortSignal.timeout(10) }).catch((e) => e.name);
      const controller = new AbortController();
      const answer = await fetch('http://a.example/quick', { signal: controller.signal });
      controller.abort(new RangeError('mine'));
      this.$emit([slow, await answer.text().catch((e) => e.name)]);`),
    { host },
  );
  expect(host.data()).toEqual([['TimeoutError', 'RangeError']]);
  expect(host.aborted).toEqual(['http://a.example/slow']);
});
