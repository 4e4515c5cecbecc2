import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

let node: Headwater;
beforeAll(async () => {
  node = await sharedHeadwater();
});
afterAll(() => node.stop());

const SECRET = 'whsec';

// Example code from docs/components.md.
const VERIFIES = `import { createHmac } from 'node:crypto';
export default { name: 'Verifies', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  run(event) {
    const sent = Buffer.from(event.bodyRaw, event.isBase64Encoded ? 'base64' : 'utf8');
    const signature = createHmac('sha256', '${SECRET}').update(sent).digest('hex');
    this.http.respond({ status: signature === event.headers['x-signature'] ? 204 : 401 });
  } };`;

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const FORM = 'application/x-www-form-urlencoded';

const BODIES: [name: string, contentType: string, body: Buffer, coding?: string][] = [
  ['JSON', 'application/json', Buffer.from('{"a": 1.0, "b": "é"}')],
  ['JSON with a mark', 'application/json', Buffer.from('\uFEFF{}')],
  ['JSON in UTF-16', 'application/json; charset=utf-16', Buffer.from('{"a":1}', 'utf16le')],
  ['JSON with bad bytes', 'application/json', latin1('{"a":"\xe9"}')],
  ['JSON in Latin-1', 'application/json; charset=iso-8859-1', latin1('{"a":"\xe9"}')],
  ['broken JSON', 'application/json', latin1('{"a":\xff')],
  ['JSON with a NUL', 'application/json', Buffer.from('{"a":"\\u0000"}\0')],
  ['a form', FORM, Buffer.from('a=1&b=%C3%A9+x')],
  ['a form in Latin-1', `${FORM}; charset=iso-8859-1`, latin1('a=\xe9')],
  ['a form with bad bytes', FORM, latin1('a=\xe9&b=%E9')],
  ['a form in Shift_JIS', `${FORM}; charset=shift_jis`, latin1('a=\x93\xfa')],
  ['a form with a mark', FORM, Buffer.from('\uFEFFa=1')],
  [
    'a form with a file',
    'multipart/form-data; boundary=x',
    latin1('--x\r\ncontent-disposition: form-data; name="f"; filename="f"\r\n\r\n\0\xff\r\n--x--\r\n'),
  ],
  ['text', 'text/plain', Buffer.from('line\r\n\ttext \u2028')],
  ['text in windows-1252', 'text/plain; charset=windows-1252', latin1('\x80\x81')],
  ['text that lies', 'text/plain; charset=utf-8', latin1('\xc3\x28')],
  ['half of a surrogate pair in UTF-8', 'text/plain', latin1('\xed\xa0\x80')],
  ['bytes', 'application/octet-stream', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
  ['no content type', '', latin1('\xff\xfe\0')],
  ['gzip', 'application/json', gzipSync('{"a":1}'), 'gzip'],
];

test('the signature over the bytes of each of twenty bodies can be verified', async () => {
  const { endpoint } = await node.deploy(VERIFIES);
  expect(BODIES).toHaveLength(20);
  const refused: string[] = [];
  for (const [name, contentType, body, coding] of BODIES) {
    const headers = {
      ...(contentType === '' ? {} : { 'content-type': contentType }),
      ...(coding === undefined ? {} : { 'content-encoding': coding }),
      'x-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
    };
    const { status } = await fetch(endpoint, { method: 'POST', headers, body: new Uint8Array(body) });
    if (status !== 204) refused.push(name);
  }
  expect(refused).toEqual([]);
});
