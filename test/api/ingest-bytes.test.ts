import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import { rawRequest, startTestServer, type TestServer } from '../support/http-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.server.stop());

interface Event {
  bodyRaw: string;
  body: unknown;
  query: object;
  isBase64Encoded?: true;
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=x';
const MARK = '\uFEFF';

async function send(body: Buffer, headers: Record<string, string>): Promise<Event> {
  const answer = await rawRequest(server.port, { method: 'POST', path: '/e/known1', headers, body: [body] });
  expect(answer.status).toBe(200);
  const event = JSON.parse(server.accepted.at(-1) ?? 'null') as Event;
  const { bodyRaw, isBase64Encoded } = event;
  // The promise of all events: the bytes that were sent can be had again.
  expect(Buffer.from(bodyRaw, isBase64Encoded === true ? 'base64' : 'utf8').equals(body)).toBe(true);
  return event;
}

const bodyOf = async (contentType: string, body: Buffer) => (await send(body, { 'content-type': contentType })).body;

const part = (head: string, value: string) => `--x\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
const multipart = (...parts: string[]) => latin1(`${parts.join('')}--x--\r\n`);

test.each([
  ['bytes that are not UTF-8', FORM, latin1('name=Jos\xe9&x=1'), { name: 'Jos\ufffd', x: '1' }],
  ['the declared charset', `${FORM}; charset=iso-8859-1`, latin1('name=Jos\xe9&x=1'), { name: 'José', x: '1' }],
  ['escapes in it', `${FORM};charset=windows-1252`, latin1('name=Jos%E9&p=%80+1'), { name: 'José', p: '€ 1' }],
  ['escapes of Japanese', `${FORM}; charset=Shift_JIS`, latin1('n=%93%FA%96%7B'), { n: '日本' }],
  ['bytes of Chinese', `${FORM}; charset="gb18030"`, latin1('n=\xd6\xd0\xce\xc4'), { n: '中文' }],
  ['names as well as values', `${FORM}; charset=koi8-r`, latin1('%F1=%D1&\xf1=2'), { Я: ['я', '2'] }],
  ['UTF-16', `${FORM}; charset=utf-16le`, Buffer.from('a=é&b=%C3%A9', 'utf16le'), { a: 'é', b: 'é' }],
  [
    'the order of bytes by its mark',
    `${FORM}; charset=utf-16`,
    Buffer.from(`${MARK}a=é&b=1`, 'utf16le').swap16(),
    { a: 'é', b: '1' },
  ],
  ['a charset that nobody knows', `${FORM}; charset=x-none`, latin1('a=%C3%A9'), { a: 'é' }],
  ['a quoted charset', `${FORM}; charset='latin1'`, latin1('a=\xe9'), { a: 'é' }],
  ['escapes that are not UTF-8', FORM, latin1('name=Jos%E9'), { name: 'Jos\ufffd' }],
  ['broken escapes beside letters', FORM, Buffer.from('a=é%zz€%E9'), { a: 'é%zz€\ufffd' }],
  ['a byte order mark', FORM, Buffer.from(`${MARK}a=1&b=2`), { a: '1', b: '2' }],
  ['the charset in its own field', FORM, latin1('_charset_=windows-1252&n=%E9'), { _charset_: 'windows-1252', n: 'é' }],
  ['a NUL', FORM, latin1('a=%00&b\0=1'), { a: '\0', 'b\0': '1' }],
])('a form is read from its bytes: %s', async (_, contentType, bytes, body) => {
  expect(await bodyOf(contentType, bytes)).toEqual(body);
});

test('a query is read as a form is', async () => {
  await rawRequest(server.port, { path: '/e/known1?a=%E9&b=%C3%A9+%zz&c' });
  expect(JSON.parse(server.accepted.at(-1) ?? '')).toMatchObject({
    query: { a: '\ufffd', b: 'é %zz', c: '' },
    rawQuery: 'a=%E9&b=%C3%A9+%zz&c',
  });
});

const file = (content: string, filename: string, mimetype = 'text/plain') => ({
  filename,
  mimetype,
  size: latin1(content).length,
  encoding: 'base64',
  content: latin1(content).toString('base64'),
});

test.each([
  [
    'a part in a charset of its own',
    multipart(
      '--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=ISO-8859-1\r\n\r\nJos\xe9\r\n',
      part('name="b"', '\xc3\xa9'),
    ),
    { a: 'José', b: 'é' },
  ],
  [
    'the charset of all in a field',
    multipart(part('name="_charset_"', 'windows-1252'), part('name="n\xe9"', '\x80')),
    { _charset_: 'windows-1252', né: '€' },
  ],
  ['bytes that mean nothing', multipart(part('name="a"', 'Jos\xe9')), { a: 'Jos\ufffd' }],
  [
    'a part without a name',
    multipart(part('name="a"', '1'), '--x\r\n\r\nlost?\r\n', part('filename="f"', '\xff')),
    { a: '1', '': ['lost?', file('\xff', 'f')] },
  ],
  ['an empty value', multipart(part('name="a"', ''), part('name="b"', '2')), { a: '', b: '2' }],
  ['a value that is left out', latin1('--x\r\ncontent-disposition: form-data; name=a\r\n\r\n--x--'), { a: '' }],
  ['lines that end in LF alone', latin1('--x\ncontent-disposition: form-data; name="a"\n\n1\n--x--\n'), { a: '1' }],
  [
    'text that looks like a delimiter',
    multipart(part('name="a"', 'a--x\r\n--xy\r\n --x\r\n')),
    { a: 'a--x\r\n--xy\r\n --x\r\n' },
  ],
  ['a preamble and padding', Buffer.from(`hello\r\n--x \t\r\n${part('name=a', '1').slice(5)}--x--bye`), { a: '1' }],
  [
    'names with quotes and escapes',
    multipart(part('name="a\\"b%22%0D%0A"; filename="C:\\dir\\f.txt"', 'x')),
    { 'a"b"\r\n': file('x', 'C:\\dir\\f.txt') },
  ],
  [
    'an encoded file name',
    multipart(part(`name="f"; filename="n.txt"; filename*=UTF-8''na%C3%AFve.txt`, '\0\xff')),
    { f: file('\0\xff', 'naïve.txt') },
  ],
  [
    'a base64 part',
    multipart(
      '--x\r\ncontent-disposition: form-data; name="f"; filename="a"\r\ncontent-transfer-encoding: BASE64\r\n\r\nAP8=\r\n',
    ),
    { f: file('\0\xff', 'a') },
  ],
  [
    'a quoted-printable part',
    multipart(
      '--x\r\ncontent-disposition: form-data; name="a"\r\ncontent-transfer-encoding: quoted-printable\r\n\r\nJos=C3=A9=\r\n!=zz\r\n',
    ),
    { a: 'José!=zz' },
  ],
  ['a byte order mark before it', Buffer.concat([Buffer.from(MARK), multipart(part('name="a"', '1'))]), { a: '1' }],
])('a multipart form is read from its bytes: %s', async (_, bytes, body) => {
  expect(await bodyOf(MULTIPART, bytes)).toEqual(body);
});

test.each([
  ['a text and the end of a form', latin1('lost?\r\n--x--\r\n')],
  ['cut off', latin1(part('name="a"', '1'))],
  ['a part without an end of its head', multipart('--x\r\ncontent-disposition: form-data; name="a"\r\n')],
])('a multipart body that is broken stays text: %s', async (_, bytes) => {
  expect(await bodyOf(MULTIPART, bytes)).toBe(bytes.toString());
});

test.each([
  ['bytes that are not UTF-8', 'application/json', latin1('{"a":"Jos\xe9"}'), { a: 'Jos\ufffd' }],
  ['the declared charset', 'application/json; charset=iso-8859-1', latin1('{"a":"Jos\xe9"}'), { a: 'José' }],
  ['UTF-8 under another name', 'application/json; charset=shift_jis', Buffer.from('{"a":"é"}'), { a: 'é' }],
  ['a byte order mark', 'application/json', Buffer.from(`${MARK}{"a":1}`), { a: 1 }],
  ['UTF-16 with a mark', 'application/json', Buffer.from(`${MARK}["é"]`, 'utf16le'), ['é']],
  ['UTF-16 in ASCII', 'application/json; charset=utf-16le', Buffer.from('[1]', 'utf16le'), [1]],
  ['broken JSON', 'application/problem+json; charset=latin1', latin1('{\xe9'), '{é'],
])('JSON is read from its bytes: %s', async (_, contentType, bytes, body) => {
  expect(await bodyOf(contentType, bytes)).toEqual(body);
});

test.each([
  ['text/plain; charset=ISO-8859-1', latin1('caf\xe9'), 'café'],
  ['text/plain;charset="windows-1252"', Buffer.from([0x80]), '€'],
  ['text/plain; charset=iso-8859-1', Buffer.from('é'), 'Ã©'],
  ['text/plain', latin1('caf\xe9'), 'caf\ufffd'],
  ['text/plain; charset=made-up', Buffer.from([0xff]), '\ufffd'],
  ['text/csv', Buffer.from(`${MARK}é`, 'utf16le'), 'é'],
  ['text/plain; charset=iso-2022-jp', latin1('\x1b$BF|K\\\x1b(B'), '日本'],
  ['application/xml; charset=euc-kr', latin1('<a>\xc7\xd1</a>'), '<a>한</a>'],
  ['application/octet-stream', Buffer.from([0x61, 0xff, 0]), 'Yf8A'],
  ['image/png', latin1('\xff\xfe'), '//4='],
])('text is read in its charset, and other bytes are base64: %s', async (contentType, bytes, body) => {
  expect(await bodyOf(contentType, bytes)).toBe(body);
});

test.each([
  ['gzip', gzipSync('{"a":"é"}')],
  ['X-GZIP', gzipSync('{"a":"é"}')],
  ['deflate', deflateSync('{"a":"é"}')],
  ['br', brotliCompressSync('{"a":"é"}')],
  ['zstd', zstdCompressSync('{"a":"é"}')],
  ['br, gzip', gzipSync(brotliCompressSync('{"a":"é"}'))],
  // Proxies and senders without compression send such headers.
  ['gzip', Buffer.from('{"a":"é"}')],
  ['utf-8', Buffer.from('{"a":"é"}')],
  ['identity', Buffer.from('{"a":"é"}')],
])('a body that is %s is read, and bodyRaw has the sent bytes', async (coding, bytes) => {
  const event = await send(bytes, { 'content-type': 'application/json', 'content-encoding': coding });
  expect(event.body).toEqual({ a: 'é' });
});

test('a compressed body that is cut off, or no body at all, is given as it came', async () => {
  const cut = gzipSync('{"a":1}').subarray(0, -4);
  const event = await send(cut, { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' });
  expect(event.body).toBe(cut.toString('base64'));
});

test('a compressed body that becomes larger than a body may be is refused', async () => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const bomb = gzipSync(Buffer.alloc(LIMITS.maxHttpBodyBytes + 1, ' '));
  const answer = await rawRequest(server.port, { method: 'POST', path: '/e/known1', headers, body: [bomb] });
  expect(answer.status).toBe(413);
  expect(JSON.parse(answer.text)).toMatchObject({ limit: { name: 'maxHttpBodyBytes' } });
});
