import type { FetchOutcome, FetchRequest } from '@headwater/sandbox-runtime';
import { ACCOUNT_LIMITS } from '@headwater/shared';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RecordingHost, recordingHost } from '../support/run-host.ts';
import { bundle, freshKey, sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

async function emitted(body: string, before = '', host: RecordingHost = recordingHost()): Promise<unknown[]> {
  const { outcome } = await sandbox.run(withRun(body, before), { host });
  if (!outcome.ok) throw new Error(`${outcome.fault.message}\n${outcome.fault.stack}`);
  return host.data();
}

describe('importing', () => {
  test('default, named and namespace imports and require give the same module', async () => {
    const before = `import fs from 'node:fs'; import { readFileSync } from 'fs'; import * as all from 'node:fs'; const required = require('fs');`;
    expect(
      await emitted(
        `this.$emit([fs.readFileSync === readFileSync, all.readFileSync === readFileSync, required.readFileSync === readFileSync, required === all.default])`,
        before,
      ),
    ).toEqual([[true, true, true, true]]);
  });

  test('a module that is not there can be imported and extended, and says so when it is used', async () => {
    const uses: Record<string, string> = {
      child_process: `exec('ls')`,
      dgram: `createSocket('udp4')`,
      cluster: `fork()`,
      vm: `runInNewContext('1')`,
      http2: `connect('https://a.example')`,
      worker_threads: `Worker && new m.Worker('x')`,
      inspector: `open()`,
      readline: `createInterface({})`,
      http: `createServer()`,
      https: `createServer()`,
    };
    for (const [name, use] of Object.entries(uses)) {
      const body = `class Own extends (Object.entries(m).find(([n, v]) => /^[A-Z]/.test(n) && typeof v === 'function')?.[1] ?? Object) {} try { m.${use}; this.$emit('used') } catch (e) { this.$emit(e.message) }`;
      expect(await emitted(body, `import * as m from '${name}';`)).toEqual([
        expect.stringContaining('is not available in the sandbox'),
      ]);
    }
  });

  test('no builtin module leads out of the isolate', async () => {
    const [found] = await emitted(`
      const { builtinModules } = process.getBuiltinModule('module');
      const seen = new Set(); const found = [];
      const walk = (value, path) => {
        if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) return;
        seen.add(value);
        if (typeof value.applySyncPromise === 'function' || typeof value.derefInto === 'function' || typeof value.createContextSync === 'function') found.push(path);
        for (const key of Reflect.ownKeys(value)) { let next; try { next = value[key]; if (next instanceof Promise) next.catch(() => 0) } catch { continue } walk(next, path + '.' + String(key)); }
        walk(Object.getPrototypeOf(value), path + '.__proto__');
      };
      let modules = 0;
      for (const name of builtinModules) { let m; try { m = process.getBuiltinModule(name) } catch { continue } modules += 1; walk(m, name); }
      this.$emit({ found, many: modules > 40 && seen.size > 1000 })`);
    expect(found).toEqual({ found: [], many: true });
  });
});

describe('files', () => {
  test('are private to a run and gone with it', async () => {
    const component = await bundle(
      withRun(
        `const before = fs.existsSync('/tmp/x'); fs.writeFileSync('/tmp/x', String(event.n)); await new Promise((r) => setTimeout(r, 30)); this.$emit([before, fs.readFileSync('/tmp/x', 'utf8')])`,
        `import fs from 'fs';`,
      ),
    );
    const isolateKey = freshKey();
    const ran = await Promise.all([1, 2, 3].map((n) => sandbox.run(component, { isolateKey, event: { n } })));
    expect(ran.map(({ host }) => host.data()[0])).toEqual([1, 2, 3].map((n) => [false, String(n)]));
    const { host } = await sandbox.run(component, { isolateKey, event: { n: 4 } });
    expect(host.data()).toEqual([[false, '4']]);
  });

  test('have a limit in bytes and in number, and room comes back when they are removed', async () => {
    const [result] = await emitted(
      `const chunk = Buffer.alloc(1024 * 1024); let megabytes = 0; const codes = [];
       try { for (;;) { fs.appendFileSync('/tmp/big', chunk); megabytes += 1 } } catch (e) { codes.push(e.code) }
       fs.unlinkSync('/tmp/big'); fs.writeFileSync('/tmp/again', chunk); fs.unlinkSync('/tmp/again');
       let files = 0; try { for (;;) { fs.writeFileSync('/tmp/f' + files, ''); files += 1 } } catch (e) { codes.push(e.code) }
       this.$emit({ megabytes, files, codes })`,
      `import fs from 'fs';`,
    );
    expect(result).toEqual({
      megabytes: ACCOUNT_LIMITS.maxTmpBytes.default / 2 ** 20,
      files: ACCOUNT_LIMITS.maxTmpEntries.default,
      codes: ['ENOSPC', 'ENOSPC'],
    });
  });

  test('exist below /tmp only', async () => {
    const codes = `['/etc/passwd', '/proc/self/environ', '../../etc/passwd'].map((p) => { try { return fs.readFileSync(p, 'utf8') } catch (e) { return e.code } })`;
    const writes = `['/x', '/etc/x', '/tmp/../y'].map((p) => { try { fs.writeFileSync(p, '') } catch (e) { return e.code } })`;
    expect(await emitted(`this.$emit([${codes}, ${writes}, fs.readdirSync('/')])`, `import fs from 'fs';`)).toEqual([
      [['ENOENT', 'ENOENT', 'ENOENT'], ['EACCES', 'EACCES', 'EACCES'], ['tmp']],
    ]);
  });
});

describe('http and https', () => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/moved') return void response.writeHead(302, { location: '/there' }).end('moved');
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      response.writeHead(201, { 'x-method': request.method ?? '' });
      response.end(request.url === '/large' ? Buffer.alloc(300_000, 'x') : Buffer.concat(chunks));
    });
  });
  let url = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });
  afterAll(() => void server.close());

  /** The node's part, without its guard: that is for tests of the egress. */
  async function throughFetch(
    { url: target, method, headers, body, redirect }: FetchRequest,
    signal: AbortSignal,
  ): Promise<FetchOutcome> {
    try {
      const sent = body === undefined ? null : Buffer.from(body);
      const response = await fetch(target, { method, headers, body: sent, redirect, signal });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const { status, statusText } = response;
      return {
        ok: true,
        status,
        statusText,
        headers: [...response.headers],
        url: target,
        redirected: false,
        body: bytes,
      };
    } catch {
      return { ok: false, message: '127.0.0.1:1 refused the connection', code: 'ECONNREFUSED' };
    }
  }

  const request = (body: string): Promise<unknown[]> =>
    emitted(
      `const url = ${JSON.stringify(url)}; ${body}`,
      `import http from 'http'; import https from 'https';`,
      recordingHost({ fetch: throughFetch }),
    );

  test('a body goes up in pieces and comes back as a stream', async () => {
    expect(
      await request(`const answer = await new Promise((resolve, reject) => {
        const r = http.request(url + '/echo?x=1', { method: 'POST', headers: { 'x-a': '1' } }, resolve); r.on('error', reject); r.write('one '); r.write(Buffer.from('two ')); r.end('three') });
        let text = ''; answer.setEncoding('utf8'); for await (const chunk of answer) text += chunk;
        this.$emit([answer.statusCode, answer.headers['x-method'], answer.headers['set-cookie'], text, answer.complete])`),
    ).toEqual([[201, 'POST', ['a=1', 'b=2'], 'one two three', true]]);
  });

  test('a redirect is left to the caller', async () => {
    expect(
      await request(`const answer = await new Promise((resolve) => http.get(url + '/moved', resolve)); answer.resume();
        this.$emit([answer.statusCode, answer.headers.location])`),
    ).toEqual([[302, '/there']]);
  });

  test('a large body comes in pieces', async () => {
    expect(
      await request(`const answer = await new Promise((resolve) => http.get(url + '/large', resolve)); let chunks = 0; let bytes = 0;
        for await (const chunk of answer) { chunks += 1; bytes += chunk.length } this.$emit([bytes, chunks > 2])`),
    ).toEqual([[300_000, true]]);
  });

  test('a connection that is refused is an error event with the code of Node', async () => {
    expect(
      await request(
        `this.$emit(await new Promise((resolve) => http.get('http://127.0.0.1:1/').on('error', (e) => resolve([e.code, e.syscall]))))`,
      ),
    ).toEqual([['ECONNREFUSED', 'connect']]);
  });

  test('an aborted or destroyed request ends with its error, and the node is told', async () => {
    const aborted: string[] = [];
    const never = (target: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted.push(target.url);
          resolve({ ok: false, message: 'aborted' });
        });
      });
    const body = `const got = [];
      const c = new AbortController(); const one = http.get('http://a.example/1', { signal: c.signal }); one.on('error', (e) => got.push(e.name));
      const two = http.get('http://a.example/2', { timeout: 20 }); two.on('timeout', () => { got.push('timeout'); two.destroy(new Error('given up')) }); two.on('error', (e) => got.push(e.message));
      const three = http.get('http://a.example/3'); three.on('error', (e) => got.push(e.code)); 
      await new Promise((r) => setTimeout(r, 10)); c.abort(); three.destroy(); await new Promise((r) => setTimeout(r, 40)); this.$emit(got.sort())`;
    expect(await emitted(body, `import http from 'http';`, recordingHost({ fetch: never }))).toEqual([
      ['AbortError', 'ECONNRESET', 'given up', 'timeout'],
    ]);
    await expect
      .poll(() => aborted.toSorted())
      .toEqual(['http://a.example/1', 'http://a.example/2', 'http://a.example/3']);
  });

  test('a request with wrong options throws where it is made', async () => {
    expect(
      await request(`const code = (f) => { try { f(); return 'made' } catch (e) { return e.code } };
        this.$emit([code(() => http.request('https://a.example')), code(() => https.request('http://a.example')), code(() => http.request('nope')), code(() => http.request({ path: '/a b' })), code(() => http.request(url, { headers: { 'a b': '1' } })), code(() => http.request(url).setHeader('x', 'a\\nb'))])`),
    ).toEqual([
      [
        'ERR_INVALID_PROTOCOL',
        'ERR_INVALID_PROTOCOL',
        'ERR_INVALID_URL',
        'ERR_UNESCAPED_CHARACTERS',
        'ERR_INVALID_HTTP_TOKEN',
        'ERR_INVALID_CHAR',
      ],
    ]);
  });

  test('a request body over the limit is an error, not a cut body', async () => {
    expect(
      await request(
        `this.$emit(await new Promise((resolve) => { const r = http.request(url, { method: 'POST' }); r.on('error', (e) => resolve(e.code)); r.end(Buffer.alloc(${ACCOUNT_LIMITS.maxFetchRequestBytes.default + 1})) }))`,
      ),
    ).toEqual(['ERR_HTTP_BODY_TOO_LARGE']);
  });
});

describe('bounds', () => {
  test('a compressed bomb stops at what an isolate may hold', async () => {
    expect(
      await emitted(
        `const layer = zlib.gzipSync(Buffer.alloc(30 * 1024 * 1024)); const bomb = Buffer.concat([layer, layer, layer]);
         try { zlib.gunzipSync(bomb); this.$emit('inflated') } catch (e) { this.$emit(e.code) }`,
        `import zlib from 'zlib';`,
      ),
    ).toEqual(['ERR_BUFFER_TOO_LARGE']);
  });

  test('keys are derived within bounds: what would block the process is refused', async () => {
    expect(
      await emitted(
        `const refused = (f) => { try { f(); return false } catch (e) { return e.message.length > 0 } };
         this.$emit([refused(() => c.pbkdf2Sync('p', 's', 1e9, 32, 'sha512')), refused(() => c.scryptSync('p', 's', 64, { N: 2 ** 24, maxmem: 2 ** 40 })), refused(() => c.generateKeyPairSync('rsa', { modulusLength: 65536 })), refused(() => c.pbkdf2Sync('p', 's', 1, 2 ** 30, 'sha1'))])`,
        `import c from 'crypto';`,
      ),
    ).toEqual([[true, true, true, true]]);
  });

  test('an error in nextTick or of a stream without a listener fails the run', async () => {
    for (const body of [
      `process.nextTick(() => { throw new Error('in a tick') }); await new Promise((r) => setTimeout(r, 1000))`,
      `new Readable({ read() { this.destroy(new Error('in a tick')) } }).resume(); await new Promise((r) => setTimeout(r, 1000))`,
    ]) {
      const { outcome } = await sandbox.run(withRun(body, `import { Readable } from 'stream';`));
      expect(outcome).toMatchObject({ ok: false, fault: { code: 'COMPONENT_ERROR', message: 'in a tick' } });
    }
  });
});

test('text written to standard output is in the log, line by line', async () => {
  const { host } = await sandbox.run(
    withRun(`process.stdout.write('one\\ntw'); process.stdout.write('o\\n'); process.stderr.write('three\\n')`),
  );
  expect(host.logs.map(({ level, message }) => [level, message])).toEqual([
    ['info', 'one'],
    ['info', 'two'],
    ['error', 'three'],
  ]);
});
