import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markNumbers, numbersIn } from '../../api/src/parameters/exact-numbers.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

/** As the API reads and writes it. */
function throughTheApi(text: string, exactly = true): string {
  const marked = markNumbers(text, 'body');
  return JSON.stringify(marked === undefined ? JSON.parse(text) : numbersIn(JSON.parse(marked.text), marked, exactly));
}

describe('JSON that is read and written again', () => {
  test.each([
    '12345678901234567890',
    '-9007199254740993',
    '{"id":1234567890123456789,"ids":[9007199254740993,1]}',
    '[0.12345678901234567891,1234567.12345678901234]',
    '[1e400,-1E-400,1e-320,123456789012345678e2]',
    '[9007199254740990.65,1.0000000000000000000001]',
    '[99999999999999.999,12345678901234.567,0.12345678901234567]',
    '{"__proto__":{"id":1234567890123456789}}',
    '{"a\\\\":1234567890123456789,"\\"1":"1234567890123456789 \\\\\\" 9007199254740993"}',
  ])('keeps the digits of %s', (text) => {
    expect(throughTheApi(text)).toBe(text);
  });

  test.each([
    '[12345678901234567000,9007199254740992,0.1000000000000000,1000000000000000.0,1e100,0e999]',
    '[0.10000000000000001,1e22,-2.5e-7,123.45,0.0,-0]',
  ])('has nothing to keep where a double holds the number: %s', (text) => {
    expect(markNumbers(text, 'body')).toBeUndefined();
  });

  test.each(['{1234567890123456789:1}', '[01234567890123456789]', '[1234567890123456789', '1234567890123456789e'])(
    'stays broken: %s',
    (text) => {
      expect(() => JSON.parse(markNumbers(text, 'body')?.text ?? text)).toThrow(SyntaxError);
    },
  );

  test('has plain numbers where digits are not asked for', () => {
    expect(throughTheApi('{"limit":[1234567890123456789]}', false)).toBe('{"limit":[1234567890123456800]}');
  });

  test('has bounds for the length of a number, and for how many are kept', () => {
    const many = `[${'1e999,'.repeat(50_000)}1e999]`;
    expect(() => markNumbers(many, 'body')).toThrow('more than 50000 numbers that a double would change');
    expect(() => markNumbers(`[${'1'.repeat(1001)}]`, 'body')).toThrow(
      'a number of more than 1000 characters at position 1',
    );
  });
});

describe('ids of 64 bits', () => {
  let hw: Headwater;
  let receiver: Receiver;

  beforeAll(async () => {
    [hw, receiver] = await Promise.all([sharedHeadwater(), startReceiver()]);
  });
  afterAll(async () => {
    await hw.stop();
    await receiver.stop();
  });

  const send = async (method: string, path: string, body: string) => {
    const headers = { authorization: `Bearer ${hw.apiKey}`, 'content-type': 'application/json' };
    const answer = await fetch(`${hw.url}/v1${path}`, { method, headers, body });
    return { status: answer.status, text: await answer.text() };
  };

  test('reach the receiver of a published event', async () => {
    const source = (await hw.api('POST', '/sources', { kind: 'ingest', name: 'Ids' })).data;
    const webhook = (await hw.api('POST', '/webhooks', { url: `${receiver.url}/ids` })).data;
    await hw.api('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
    const one = '{"data": {"id": 1234567890123456789}}';
    const batch = '{"events": [{"data": 9007199254740993}, {"data": {"id": [1e400]}}]}';
    for (const body of [one, batch])
      expect((await send('POST', `/sources/${source.id}/events`, body)).status).toBe(200);
    const requests = await receiver.until(3);
    const bodies = requests.map(({ body }) => body).toSorted();
    expect(bodies).toEqual(['9007199254740993', '{"id":1234567890123456789}', '{"id":[1e400]}']);
  });

  test('are sent as a test of a webhook, and kept in a record', async () => {
    receiver.requests.length = 0;
    const webhook = (await hw.api('POST', '/webhooks', { url: `${receiver.url}/test` })).data;
    await send('POST', `/webhooks/${webhook.id}/test`, '{"event": {"id": 1234567890123456789}}');
    const [request] = await receiver.until(1);
    expect(request?.body).toBe('{"id":1234567890123456789}');
    const store = (await hw.api('POST', '/data_stores', { name: 'Ids' })).data;
    const { text } = await send('PUT', `/data_stores/${store.id}/record`, '{"key": "a", "value": 1234567890123456789}');
    expect(text).toContain('"value":1234567890123456789');
  });

  test.each([
    ['o', '{"a": [1, {"b": 9007199254740993}]}', 'configured_props.o.a.1.b'],
    ['n', '1e400', 'configured_props.n'],
  ])('are refused in the prop %s, which would store another number', async (name, value, path) => {
    const code = `export default { name: 'Props', version: '1', props: { n: 'number', o: 'object' }, run() {} };`;
    const body = `{"component_code": ${JSON.stringify(code)}, "configured_props": {"${name}": ${value}}}`;
    const { status, text } = await send('POST', '/sources', body);
    expect([status, JSON.parse(text).errors]).toEqual([
      400,
      [{ path, message: 'is a number that would change when it is stored: give it as text' }],
    ]);
  });

  test('are plain numbers in other parameters', async () => {
    const { status, text } = await send(
      'POST',
      '/webhooks',
      '{"url": "http://a.example", "max_in_flight": 1234567890123456789}',
    );
    expect(status).toBe(400);
    expect(text).toContain('max_in_flight must be ');
  });
});
