import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventStream, type Message, type MessageSource } from '../../api/src/event-stream.ts';
import { LIMITS } from '../../shared/src/index.ts';
import { eventually } from '../support/eventually.ts';
import { longestTurnMs, slowness } from '../support/longest-turn.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A scripted message source that records its calls. */
function script(turns: (Message[] | Error | undefined)[]) {
  const asked: number[] = [];
  const state = { closed: 0, admitted: true, cut: 0, errors: [] as unknown[] };
  const source: MessageSource = {
    async next(waitMs) {
      asked.push(waitMs);
      const turn = turns.shift();
      if (turn instanceof Error) throw turn;
      return turn;
    },
    close: () => void state.closed++,
  };
  const body = eventStream(source, {
    isAdmitted: async () => state.admitted,
    cutOff: () => void state.cut++,
    onError: (error) => void state.errors.push(error),
  });
  return { asked, state, body };
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(body).text();
}

test('messages with any content are written as an EventSource reads them', async () => {
  const { body, state } = script([
    [{ id: '1-0', data: '{"a":1}' }],
    [
      { id: '1-1', event: 'two\nid: 9\r\nwords', data: '{\n"a":\r\n2}' },
      { id: '1-2', event: 'x', data: '3' },
    ],
    undefined,
  ]);
  expect(await textOf(body)).toBe(
    'retry: 1000\n\nid: 1-0\ndata: {"a":1}\n\nid: 1-1\nevent: two id: 9 words\ndata: { "a": 2}\n\nid: 1-2\nevent: x\ndata: 3\n\n',
  );
  expect(state).toMatchObject({ closed: 1, cut: 0, errors: [] });
});

const LARGE = 1024 * 1024;

test.each([
  ['line breaks alone', `[1${'\n'.repeat(LARGE)}]`],
  ['line breaks of all kinds between values', `[${Array.from({ length: LARGE / 8 }, () => '1\r,\r\n2\n').join(',')}]`],
  ['pairs of surrogates at every place of a piece', `["${'🐎'.repeat(40_000)}","x${'🐎'.repeat(40_000)}"]`],
  ['a text that ends with a piece', `"${'x'.repeat(64 * 1024 - 2)}"`],
])('JSON text of %s comes in one line, and is the same value', async (_, data) => {
  vi.useRealTimers();
  const { body } = script([[{ id: '1', data }], undefined]);
  const [, message = '', rest] = (await textOf(body)).split('\n\n');
  expect(rest).toBe('');
  const [id, line = '', ...more] = message.split('\n');
  expect([id, more.length]).toEqual(['id: 1', 0]);
  expect(JSON.parse(line.replace(/^data: /, ''))).toEqual(JSON.parse(data));
});

test('events of megabytes are written piece by piece: others have the thread in between', async () => {
  vi.useRealTimers();
  const messages = ['\n', '1,\n', '中\n'].map((text, n) => ({
    id: String(n),
    data: text.repeat((4 * LARGE) / text.length),
  }));
  const { body, asked } = script([messages, undefined]);
  const reader = body.getReader();
  const askedBefore: number[] = [];
  const longestMs = await longestTurnMs(async () => {
    for (;;) {
      const { done } = await reader.read();
      if (done) break;
      askedBefore.push(asked.length);
    }
    // Wait, so that work since the last pause is measured too.
    await sleep(5);
  });
  expect(askedBefore.length).toBeGreaterThan(50);
  // The next messages are requested only after the client has taken all earlier ones.
  expect(new Set(askedBefore)).toEqual(new Set([0, 1]));
  expect(longestMs / slowness()).toBeLessThan(30);
});

test('silence is a comment now and then', async () => {
  const { body, asked } = script([[], [], undefined]);
  expect(await textOf(body)).toBe('retry: 1000\n\n: still here\n\n: still here\n\n');
  expect(asked).toEqual([15_000, 15_000, 15_000]);
});

test('the next part is read after the last one was taken, and a client that takes nothing is cut off', async () => {
  const { body, asked, state } = script([[{ id: '1', data: '1' }], [{ id: '2', data: '2' }], [{ id: '3', data: '3' }]]);
  const reader = body.getReader();
  expect(asked).toHaveLength(0);
  await reader.read();
  await reader.read();
  expect(asked).toHaveLength(1);
  vi.advanceTimersByTime(LIMITS.clientStallMs - 1);
  expect(state.cut).toBe(0);
  await reader.read();
  vi.advanceTimersByTime(LIMITS.clientStallMs - 1);
  expect(state.cut).toBe(0);
  vi.advanceTimersByTime(1);
  expect(state.cut).toBe(1);
  expect(asked).toHaveLength(2);
  await reader.cancel();
  expect(state.closed).toBe(1);
});

test('a stream whose key holds no more ends', async () => {
  const { body, state, asked } = script([[{ id: '1', data: '1' }], [{ id: '2', data: '2' }]]);
  const reader = body.getReader();
  await reader.read();
  await reader.read();
  state.admitted = false;
  vi.setSystemTime(Date.now() + LIMITS.streamKeyCheckMs);
  expect(await reader.read()).toMatchObject({ done: true });
  expect(state.closed).toBe(1);
  expect(asked).toHaveLength(1);
});

test('a failure is reported to the operator and ends the stream', async () => {
  const broken = new Error('the database is away');
  const { body, state } = script([[{ id: '1', data: '1' }], broken]);
  expect(await textOf(body)).toBe('retry: 1000\n\nid: 1\ndata: 1\n\n');
  expect(state).toMatchObject({ closed: 1, errors: [broken] });
});

test('a client that stops reading holds up its own stream only, and loses its connection', async () => {
  vi.useRealTimers();
  const big = 'x'.repeat(1024 * 1024);
  let asked = 0;
  let closed = 0;
  let cut: () => void = () => undefined;
  const listener = getRequestListener((_request, { outgoing }) => {
    cut = () => outgoing.destroy();
    const messages = { next: async () => [{ id: String(++asked), data: big }], close: () => void closed++ };
    const options = { isAdmitted: async () => true, cutOff: cut, onError: () => undefined };
    return new Response(eventStream(messages, options), { headers: { 'content-type': 'text/event-stream' } });
  });
  const server: Server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const response = await new Promise<IncomingMessage>((resolve) => {
    request({ host: '127.0.0.1', port }, resolve)
      .on('error', () => undefined)
      .end();
  });
  response.on('error', () => undefined).pause();
  // The server requests as much as the buffers of both sockets hold, then no more.
  let before = -1;
  await eventually(
    () => {
      const isStill = asked > 1 && asked === before;
      before = asked;
      return isStill;
    },
    { everyMs: 200 },
  );
  expect(asked).toBeLessThan(40);
  cut();
  await eventually(() => closed === 1);
  await new Promise((resolve) => server.close(resolve));
});
