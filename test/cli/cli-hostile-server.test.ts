import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApiClient } from '../../cli/src/api/client.ts';
import { safeLine } from '../../cli/src/terminal/safe-text.ts';
import { type CliUser, createCliUser } from '../support/cli.ts';

/**
 * Window title, clipboard, a sequence that begins with one character, a carriage return, letters
 * turned round.
 */
const STEERING = '\u001B]0;title\u0007\u001B]52;c;ZXZpbA==\u0007\u009B2J\r\u202Etxt.exe\u0085\u007F';
const STEERS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/;
const KEY = 'hw_key_of_another_server_entirely';

let server: Server;
let url: string;
let user: CliUser;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: IncomingMessage[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  user = await createCliUser({ HEADWATER_URL: url, HEADWATER_API_KEY: KEY });
  asked = [];
});
afterEach(() => user.remove());

const says = (value: unknown, status = 200) => {
  answer = (_, response) => void response.writeHead(status).end(JSON.stringify(value));
};

describe('text of a server, or of others on it, is text alone', () => {
  const text = `a${STEERING}b`;

  test.each([
    ['whoami', { id: text, username: text, email: text, orgs: [{ id: text, name: text }], quotas: {} }],
    ['login', { id: text, username: text, email: text, orgs: [], quotas: {} }],
    ['unpublish x', { id: text, key: text, version: text }],
    ['unpublish x -q', { id: text, key: text, version: text }],
  ])('hw %s', async (line, data) => {
    says({ data });
    const words = line.split(' ');
    const [shown, json] = [await user.hw(words), await user.hw([...words, '--json'])];
    for (const { code, stdout, stderr } of [shown, json])
      expect({ code, stderr, steers: STEERS.test(stdout) }).toEqual({ code: 0, stderr: '', steers: false });
    expect(JSON.stringify(JSON.parse(json.stdout))).toContain(JSON.stringify(text));
  });

  test('events and lines of logs keep their columns, and their JSON is whole', async () => {
    const metadata = { emit_id: 'dc_x', emitter_id: 'dc_x', name: text, summary: text, ts: null };
    says({ data: [{ id: `1-0${text}`, indexed_at_ms: 1, event: { text }, metadata }] });
    const source = 'dc_00000000000000000000';
    const { code, stdout } = await user.hw(['events', source]);
    const cells = stdout.trimEnd().split('\t');
    expect([code, cells.length, STEERS.test(stdout)]).toEqual([0, 5, false]);
    expect(JSON.parse(cells[4] ?? '')).toEqual({ text });
    const json = await user.hw(['events', source, '--json']);
    expect([STEERS.test(json.stdout), JSON.parse(json.stdout.trim().split('\n')[0] ?? '')]).toEqual([
      false,
      expect.anything(),
    ]);
  });

  test('refusals too', async () => {
    says({ type: text, title: text, detail: text, request_id: text, errors: [{ path: text, message: text }] }, 500);
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await user.hw(['whoami', ...more]);
      expect([stdout, STEERS.test(stderr)]).toEqual(['', false]);
      expect(stderr).toContain('request');
    }
  });
});

test('a text becomes one line in time that grows with its length', () => {
  expect(['a\n\n \tb', '\na', 'a \n', ' a\tb ', '\n', ' \n\n ', 'a\n b\r\n c'].map(safeLine)).toEqual([
    'a b',
    ' a',
    'a ',
    ' a b ',
    ' ',
    ' ',
    'a b c',
  ]);
  const before = process.cpuUsage();
  safeLine(`${' '.repeat(300_000)}x`);
  const { user: userUs, system: systemUs } = process.cpuUsage(before);
  // It was more than half a minute.
  expect((userUs + systemUs) / 1_000).toBeLessThan(3_000);
});

test('words that a shell would take for more than a word are not offered for completion', async () => {
  const keys = ['good-key', '$(touch /tmp/x)', 'a;b', '`id`', 'x y', 'a\nb', 'a&b', '--url=http://evil', "it's", '>f'];
  const components = keys.map((key) => ({ key }));
  says({ data: components, page_info: { total_count: keys.length, end_cursor: null } });
  expect((await user.hw(['__complete', 'unpublish', ''])).stdout).toBe('good-key\tcomponents\n');
});

describe('an answer without end', () => {
  const options = { apiKey: KEY, signal: new AbortController().signal, maxAnswerBytes: 1_000_000 };

  test('ends with a word, and its connection with it', async () => {
    const closed = Promise.withResolvers<void>();
    answer = (_, response) => {
      response.writeHead(200).once('close', () => closed.resolve());
      const more = () => void (response.destroyed || response.write('[1],'.repeat(10_000), () => setImmediate(more)));
      more();
    };
    await expect(createApiClient({ url, ...options }).get('/users/me')).rejects.toThrow('answers without end');
    await closed.promise;
  });

  test('so does a list whose pages never end', async () => {
    const data = Array.from({ length: 100 }, () => ({ id: 'x'.repeat(1_000) }));
    answer = (_, response) => {
      response.end(JSON.stringify({ data, page_info: { total_count: 1e9, end_cursor: `after-${asked.length}` } }));
    };
    await expect(createApiClient({ url, ...options }).all('/components')).rejects.toThrow('answers without end');
    expect(asked.length).toBeLessThan(100);
  });
});

test('components of an imported folder are sent with their imports, and with no other file', async () => {
  const files = {
    'package.json': '{}',
    'credentials.json': '{ "key": "SECRET" }',
    'settings.js': 'export default "SECRET";',
    'acme/package.json': '{}',
    'acme/service-account.json': '"SECRET"',
    'acme/acme.app.mjs': 'import data from "./data.json"; export default data;',
    'acme/data.json': '{}',
    'acme/common/index.ts': 'export * from "./more.js";',
    'acme/common/more.ts': 'export const more = 1;',
    'acme/sources/one/one.mjs': 'import app from "../../acme.app.mjs"; import "../../common";\nexport default { app };',
    'acme/sources/one/test-event.json': '"SECRET"',
    'other/package.json': '{ "//": "SECRET" }',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(user.workDir, name)), { recursive: true });
    await writeFile(path.join(user.workDir, name), text);
  }
  const sent: string[] = [];
  answer = (request, response) => {
    request.setEncoding('utf8').on('data', (part: string) => sent.push(part));
    request.on('end', () => {
      response.end('{"data":{"id":"i","status":"done","total":0,"succeeded":0,"failed":0,"components":[]}}');
    });
  };
  expect((await user.hw(['registry', 'import', '.'])).code).toBe(0);
  const body = sent.join('');
  expect(Object.keys(JSON.parse(body).files).toSorted()).toEqual([
    'acme/acme.app.mjs',
    'acme/common/index.ts',
    'acme/common/more.ts',
    'acme/data.json',
    'acme/package.json',
    'acme/sources/one/one.mjs',
    'package.json',
  ]);
  expect(body).not.toContain('SECRET');
});

describe('a server that is busy', () => {
  const me = { data: { id: 'u', username: 'u', email: null, orgs: [], quotas: {} } };
  const busy = (response: ServerResponse, seconds: number, status = 429) =>
    void response.writeHead(status, { 'retry-after': String(seconds) }).end();

  test('is asked again when it says so, which is told, and not among the JSON', async () => {
    answer = (_, response) => (asked.length % 3 === 0 ? response.end(JSON.stringify(me)) : busy(response, 0, 503));
    expect(await user.hw(['whoami', '--json'])).toMatchObject({ code: 0, stderr: '' });
    const { code, stderr } = await user.hw(['whoami']);
    expect([code, asked.length, stderr.match(/is busy; trying again in 0 s/g)?.length]).toEqual([0, 6, 2]);
  });

  test('for longer than a minute is not waited for, and Ctrl-C ends a wait', async () => {
    answer = (_, response) => busy(response, 61);
    expect((await user.hw(['whoami'])).code).toBe(1);
    expect(asked).toHaveLength(1);
    answer = (_, response) => busy(response, 60);
    const waiting = user.start(['whoami']);
    await waiting.untilOutput(/trying again in 60 s/);
    expect(await waiting.end()).toMatchObject({ code: 130, stdout: '' });
  });
});

test('a redirect is not followed, and the key goes nowhere else', async () => {
  const other: IncomingMessage[] = [];
  const elsewhere = createServer((request, response) => {
    other.push(request);
    response.end('{}');
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  const { port } = elsewhere.address() as AddressInfo;
  for (const status of [301, 302, 303, 307, 308]) {
    answer = (request, response) => {
      response.writeHead(status, { location: `http://127.0.0.1:${port}${request.url}` }).end();
    };
    for (const line of ['whoami', 'events dc_00000000000000000000 --follow', 'webhooks create https://x.example'])
      expect((await user.hw(line.split(' '))).code).toBe(1);
  }
  elsewhere.close();
  expect([other.length, asked.length > 0]).toEqual([0, true]);
});

test('a key that no header can hold, and a URL with a password, are refused without being told', async () => {
  for (const apiKey of ['hw_SECRET\u0001', 'hw_SECRET\u2713', 'hw SECRET']) {
    const { code, stderr } = await user.hw(['whoami'], { env: { HEADWATER_API_KEY: apiKey } });
    expect([code, stderr]).toEqual([3, 'error: That is no API key: one has no spaces or other signs\n']);
  }
  for (const name of ['', 'me']) {
    const { code, stderr } = await user.hw(['whoami', '--url', `http://${name}:SECRET@127.0.0.1`]);
    expect([code, stderr.includes('SECRET')]).toEqual([2, false]);
  }
  expect(asked).toEqual([]);
});

test('the key of the environment is not sent to another server than that of the environment', async () => {
  says({ data: { id: 'u', username: 'u', email: null, orgs: [], quotas: {} } });
  const whoami = (env: Record<string, string>) => user.hw(['whoami', '--url', url], { env });
  expect(await whoami({ HEADWATER_URL: 'https://hw.example.com' })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`Nobody is logged in to ${url}`),
  });
  expect(asked).toEqual([]);
  expect((await whoami({ HEADWATER_URL: `${url}/v1/` })).code).toBe(0);
  expect((await whoami({ HEADWATER_URL: '' })).code).toBe(0);
  expect(asked.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
});
