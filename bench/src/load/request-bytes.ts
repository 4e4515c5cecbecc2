import type { Target } from './connection.ts';

export interface RequestTemplate {
  target: Target;
  /**
   * The whole request, head and body, of an event with this id. Ids of one template must be of one
   * length.
   */
  request(id: string): string;
  body(id: string): string;
}

/**
 * A JSON body such as a real service sends: a few fields, nested ones among them, padded to
 * `bodyBytes`. The id is first.
 */
export function createRequestTemplate(endpoint: string, bodyBytes: number, idChars: number): RequestTemplate {
  const { hostname, port, host, pathname, search } = new URL(endpoint);
  const rest = restOfBody(bodyBytes - idChars);
  const body = (id: string) => `{"id":"${id}",${rest}`;
  const length = Buffer.byteLength(body('x'.repeat(idChars)));
  const head =
    `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nuser-agent: headwater-bench\r\n` +
    `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  return { target: { host: hostname, port: Number(port) }, body, request: (id) => head + body(id) };
}

function restOfBody(bytes: number): string {
  const fields = {
    type: 'order.paid',
    created_at: '2026-01-05T10:11:12Z',
    customer: { id: 40_213, name: 'Ada', country: 'NO' },
    items: [{ sku: 'A-1', quantity: 2, price: 12.5 }],
  };
  const withoutNote = `${JSON.stringify(fields).slice(1, -1)},"note":""}`;
  const missing = bytes - withoutNote.length - '{"id":"",'.length;
  const note = 'lorem ipsum '.repeat(Math.ceil(Math.max(0, missing) / 12)).slice(0, Math.max(0, missing));
  return withoutNote.replace('"note":""', `"note":"${note}"`);
}
