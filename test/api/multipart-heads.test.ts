import { expect, test } from 'vitest';
import { multipartJson } from '../../api/src/ingest/multipart.ts';

const read = (part: string) =>
  multipartJson('multipart/form-data; boundary=x', Buffer.from(`--x\r\n${part}\r\n--x--\r\n`));
const FIELD = 'content-disposition: form-data; name="a"';

test.each([
  ['with hundreds of header lines', `${'b: c\r\n'.repeat(200)}${FIELD}\r\n\r\n1`],
  ['with a header line of many kilobytes', `${FIELD}${';b=c'.repeat(3_000)}\r\n\r\n1`],
])('a form with a part %s is left as text', (_, part) => {
  expect(read(part)).toBeUndefined();
});

test('a form with a few header lines, and large values, is read', () => {
  const value = 'line\r\n'.repeat(5_000);
  expect(read(`${FIELD}\r\ncontent-type: text/plain\r\nb: c\r\n\r\n${value}`)).toBe(JSON.stringify({ a: value }));
});
