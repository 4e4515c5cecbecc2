import { fc } from '../support/properties.ts';
import { describe, expect, test } from 'vitest';
import { type Frame, FrameError, FrameReader, FrameWriter } from '../../sandbox-runtime/src/bridge/frames.ts';
import { readFromSandbox, sendToHost } from '../../sandbox-runtime/src/bridge/frames-to-host.ts';
import type { ToHost } from '../../sandbox-runtime/src/bridge/messages.ts';
import { TenantQueue } from '../../sandbox-runtime/src/starter/tenant-queue.ts';

const MAX_BYTES = 64 * 1024;

/** Frames that the reader gets for these messages, cut into pieces of any size. */
function transfer(send: (writer: FrameWriter) => void, pieceBytes = 7): Frame[] {
  const chunks: Buffer[] = [];
  const writer = new FrameWriter((bytes) => void chunks.push(Buffer.from(bytes)));
  send(writer);
  writer.flush();
  const all = Buffer.concat(chunks);
  const reader = new FrameReader(MAX_BYTES);
  const frames: Frame[] = [];
  for (let at = 0; at < all.length; at += pieceBytes) frames.push(...reader.push(all.subarray(at, at + pieceBytes)));
  return frames;
}

describe('frames', () => {
  test('messages arrive in order for any cut of the stream', () => {
    const part = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array());
    const message = fc.record({ kind: fc.nat(255), run: fc.nat(2 ** 31), parts: fc.array(part, { maxLength: 8 }) });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), fc.integer({ min: 1, max: 50 }), (messages, pieceBytes) => {
        const frames = transfer(
          (writer) => messages.forEach(({ kind, run, parts }) => writer.send(kind, run, parts)),
          pieceBytes,
        );
        const bytes = (value: string | Uint8Array): string => Buffer.from(value as string).toString('hex');
        expect(
          frames.map(({ kind, run, parts }) => ({ kind, run, parts: parts.map((each) => each.toString('hex')) })),
        ).toEqual(messages.map(({ kind, run, parts }) => ({ kind, run, parts: parts.map(bytes) })));
      }),
      { numRuns: 100 },
    );
  });

  test('a frame over the limit is refused by its announcement, before its bytes are kept', () => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(MAX_BYTES + 1);
    expect(() => new FrameReader(MAX_BYTES).push(head)).toThrow(FrameError);
  });

  test('bytes of any kind are either frames or a FrameError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        let thrown: unknown;
        try {
          for (const frame of new FrameReader(MAX_BYTES).push(Buffer.from(bytes))) readFromSandbox(frame);
        } catch (error) {
          thrown = error;
        }
        expect(thrown === undefined || thrown instanceof FrameError).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('messages of a sandbox process', () => {
  const read = (message: ToHost): unknown => transfer((writer) => sendToHost(writer, message)).map(readFromSandbox)[0];

  test('each message of a process is understood', () => {
    expect(read({ kind: 'emit', run: 3, event: '{"a":1}', meta: '{"id":1,"emittedAtMs":5}' })).toEqual({
      kind: 'emit',
      run: 3,
      event: { data: '{"a":1}', id: 1, emittedAtMs: 5 },
    });
    const limit = { name: 'runCpuMs', value: 10, used: 11.5 } as const;
    const fault = { code: 'CPU_LIMIT', message: 'm', stack: 's', limit } as const;
    const outcome = { ok: false, fault, innocent: true, cpuMs: 1.5, wallMs: 2 } as const;
    expect(read({ kind: 'outcome', run: 1, outcome })).toEqual({ kind: 'outcome', run: 1, outcome });
  });

  const LOG = 3;
  const readLine = (head: string): unknown =>
    transfer((writer) => writer.send(LOG, 1, [head, 'text'])).map(readFromSandbox)[0];

  test('a log line says which limit has to do with it', () => {
    const limit = { name: 'maxLogLineBytes', value: 256, used: 300 } as const;
    const line = { atMs: 5, level: 'warn', message: 'text', limit } as const;
    expect(read({ kind: 'log', run: 1, line })).toEqual({ kind: 'log', run: 1, line });
    expect(readLine('1:5')).toEqual({ kind: 'log', run: 1, line: { atMs: 5, level: 'info', message: 'text' } });
  });

  const heads: [title: string, head: string][] = [
    ['another limit', '1:5:runCpuMs:1:2'],
    ['a name of every object', '1:5:toString:1:2'],
    ['no name', '1:5::1:2'],
    ['one figure', '1:5:maxLogLineBytes:1'],
    ['a figure more', '1:5:maxLogLineBytes:1:2:3'],
    ['a figure below zero', '1:5:maxLogLineBytes:1:-2'],
    ['a part of a number', '1:5:maxLogLineBytes:1:2.5'],
    ['a figure without bounds', '1:5:maxLogLineBytes:1:Infinity'],
    ['a figure that is none', '1:5:maxLogLineBytes:NaN:2'],
    ['a figure that is not safe', `1:5:maxLogLineBytes:1:${2 ** 53}`],
    ['a second line', '1:5:maxLogLineBytes:1:2\n'],
    ['a level that is none', '4:5'],
  ];
  test.each(heads)('a log line with %s is refused', (_title, head) => {
    expect(() => readLine(head)).toThrow(FrameError);
  });

  const emit = (meta: string): ToHost => ({ kind: 'emit', run: 1, event: '1', meta });
  const respond = (head: string): ToHost => ({ kind: 'respond', run: 1, head, body: '' });
  const fetching = (head: string): ToHost => ({ kind: 'fetch', run: 1, call: 1, head, body: undefined });
  const breaches: [title: string, message: ToHost][] = [
    ['an event without a time', emit('{}')],
    ['an event id that is an object', emit('{"id":{},"emittedAtMs":1}')],
    ['a head with another member', emit('{"emittedAtMs":1,"extra":true}')],
    ['a head that is no JSON', emit('{')],
    ['a head of a megabyte', emit(' '.repeat(300_000))],
    ['a status that is none', respond('{"status":42,"headers":[]}')],
    ['a header that breaks its line', respond('{"status":200,"headers":[["a","b\\r\\nc: d"]]}')],
    ['an unknown redirect mode', fetching('{"url":"http://a","method":"GET","redirect":"x","headers":[]}')],
    ['a call number that is none', { kind: 'db-get', run: 1, call: -1, key: 'k' }],
    ['a time that is infinite', { kind: 'outcome', run: 1, outcome: { ok: true, cpuMs: Number.NaN, wallMs: 1 } }],
  ];
  test.each(breaches)('%s is refused', (_title, message) => {
    const reader = new FrameReader(1024 * 1024);
    const chunks: Buffer[] = [];
    const writer = new FrameWriter((bytes) => void chunks.push(Buffer.from(bytes)));
    sendToHost(writer, message);
    writer.flush();
    expect(() => reader.push(Buffer.concat(chunks)).map(readFromSandbox)).toThrow(FrameError);
  });

  const inventedLimits: [title: string, limit: string][] = [
    ['an unknown name', '"maxX",1,2'],
    ['a name of every object', '"toString",1,2'],
    ['no figures', '"runCpuMs"'],
    ['figures that are text', '"runCpuMs","1","2"'],
  ];
  test.each(inventedLimits)('a fault with a limit of %s is refused', (_title, limit) => {
    const frames = transfer((writer) => writer.send(9, 1, [`[1,2,"CPU_LIMIT",false,${limit}]`, 'm', '']));
    expect(() => frames.map(readFromSandbox)).toThrow(FrameError);
  });

  test('a fault of an invented code is refused', () => {
    const frames = transfer((writer) => writer.send(9, 1, ['[1,2,"RUN_ABANDONED",false]', 'm', '']));
    expect(() => frames.map(readFromSandbox)).toThrow(FrameError);
  });
});

test('waiting work is served in turn between tenants, in order within one', () => {
  const queue = new TenantQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(item[0] as string, item);
  const served: string[] = [];
  let room = 4;
  queue.serve((item) => {
    if (room === 0) return false;
    room -= 1;
    served.push(item);
    return true;
  });
  expect(served).toEqual(['a1', 'b1', 'c1', 'a2']);
  expect(queue.size).toBe(2);
  expect(queue.drain().sort()).toEqual(['a3', 'b2']);
});

test('a tenant with several lines of waiting work has one turn for all of them', () => {
  const queue = new TenantQueue<string>();
  for (const item of ['a1', 'a2']) queue.add('a', item, 'shared');
  for (const item of ['A1', 'A2']) queue.add('a', item, 'alone');
  for (const item of ['b1', 'b2']) queue.add('b', item, 'shared');
  const served: string[] = [];
  queue.serve((item) => served.push(item) > 0);
  expect(served).toEqual(['a1', 'b1', 'A1', 'b2', 'a2', 'A2']);
  expect(queue.size).toBe(0);
});

test('a line of waiting work whose first cannot be served is in the way of no other line', () => {
  const queue = new TenantQueue<string>();
  for (const [line, item] of ['alone:A1', 'shared:a1', 'shared:a2'].map((text) => text.split(':')))
    queue.add('a', item!, line);
  const served: string[] = [];
  queue.serve((item) => item !== 'A1' && served.push(item) > 0);
  expect(served).toEqual(['a1', 'a2']);
  expect([...queue.firsts()]).toEqual(['A1']);
});

test('waiting work can be taken out at any position', () => {
  const queue = new TenantQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1']) queue.add(item[0] as string, item);
  expect(queue.remove((item) => item === 'a2' || item === 'b1')).toEqual(['a2', 'b1']);
  expect([queue.size, queue.countOf('a'), queue.countOf('b')]).toEqual([2, 2, 0]);
  expect(queue.drain()).toEqual(['a1', 'a3']);
});
