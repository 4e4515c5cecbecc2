import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CliUser, createCliUser, type RunningCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

// Every command is a process of its own: beside other work each takes a second instead of a tenth.
vi.setConfig({ testTimeout: 90_000 });

const SOURCE_ID = `dc_${'a'.repeat(20)}`;

function record(number: number) {
  const id = `${1_700_000_000_000 + number}-0`;
  const metadata = { emit_id: `${SOURCE_ID}-${id}`, emitter_id: SOURCE_ID, name: '', summary: null, ts: null };
  return { id, indexed_at_ms: 1_700_000_000_000 + number, event: { number }, metadata };
}

const message = (number: number) => `id: ${record(number).id}\ndata: ${JSON.stringify(record(number))}\n\n`;

/** The numbers of the events that it has printed. */
const numbers = (cli: RunningCli) =>
  cli
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).event.number as number);

describe('a stream that breaks off', () => {
  let user: CliUser;
  let server: Server;
  let url: string;
  let stored: number[];
  let connections: { request: IncomingMessage; response: ServerResponse }[];
  let onStream: (response: ServerResponse) => void;

  beforeEach(async () => {
    stored = [];
    connections = [];
    onStream = (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
    server = createServer((request, response) => {
      if (request.url?.includes('/sse') === true) {
        connections.push({ request, response });
        onStream(response);
      } else {
        const limit = Number(new URL(request.url ?? '', 'http://x').searchParams.get('limit'));
        const data = stored.slice(-limit).toReversed().map(record);
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
      }
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    user = await createCliUser({ HEADWATER_URL: url, HEADWATER_API_KEY: 'hw_key' });
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await user.remove();
  });

  const connected = (count: number) =>
    eventually(() => connections.length >= count && connections[count - 1], { what: `connection ${count}` });

  test('is resumed after the last message, and no message is shown twice', async () => {
    stored = [1, 2, 3];
    const cli = user.start(['events', SOURCE_ID, '-f', '-n', '2', '--json']);
    const first = await connected(1);
    expect(first.request.headers).toMatchObject({ 'last-event-id': record(3).id, authorization: 'Bearer hw_key' });
    first.response.write(message(2) + message(3) + message(4) + message(5).slice(0, 20));
    await eventually(() => numbers(cli).length === 3);
    first.response.destroy();
    const second = await connected(2);
    expect(second.request.headers['last-event-id']).toBe(record(4).id);
    second.response.write(message(4) + message(5));
    await eventually(() => numbers(cli).length === 4);
    second.response.end();
    const third = await connected(3);
    expect(third.request.headers['last-event-id']).toBe(record(5).id);
    third.response.write(message(6));
    await eventually(() => numbers(cli).length === 5);
    expect(numbers(cli)).toEqual([2, 3, 4, 5, 6]);
    expect((await cli.end()).code).toBe(130);
  });

  test('from a server that is away for a while is retried until it is back', async () => {
    let refused = 0;
    onStream = (response) => {
      if (refused < 2) {
        refused++;
        response.writeHead(503).end();
      } else response.writeHead(200, { 'content-type': 'text/event-stream' }).write(message(1));
    };
    const cli = user.start(['events', SOURCE_ID, '-f']);
    await cli.untilOutput(/"number":1/);
    expect(cli.stderr().match(/connecting again/g)).toHaveLength(1);
    expect(cli.stderr()).toContain('(connected again)');
    await cli.end();
  });

  test('for good, with a key that is refused, ends with exit code 3', async () => {
    onStream = (response) =>
      response
        .writeHead(401, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify({ type: 'urn:headwater:error:unauthorized', status: 401, detail: 'No valid key' }));
    expect(await user.hw(['events', SOURCE_ID, '-f'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('No valid key'),
    });
    expect(connections).toHaveLength(1);
  });

  test('Ctrl-C ends it with 130, without a word, also while it waits to connect again', async () => {
    const open = user.start(['events', SOURCE_ID, '-f']);
    await connected(1);
    expect(await open.end()).toEqual({ code: 130, stdout: '', stderr: '' });
    onStream = (response) => response.destroy();
    const waiting = user.start(['events', SOURCE_ID, '-f']);
    await waiting.untilOutput(/connecting again/);
    expect((await waiting.end()).code).toBe(130);
  });

  test('a message sent with $.send.sse is shown with its channel, though it is no record', async () => {
    const id = `p_${'a'.repeat(20)}`;
    const cli = user.start(['events', id, '-f', '--json']);
    const { response } = await connected(1);
    response.write('id: 1700000000001-0\nevent: progress\ndata: {"done":0.5}\n\n');
    const [line] = await cli.untilOutput(/\{.*\}/);
    expect(JSON.parse(line)).toMatchObject({
      id: '1700000000001-0',
      event: { done: 0.5 },
      metadata: { name: 'progress' },
    });
    await cli.end();
  });
});

describe('the streams of the server', () => {
  let hw: Headwater;
  let user: CliUser;

  beforeAll(async () => {
    hw = await sharedHeadwater();
    user = await createCliUser({ HEADWATER_URL: hw.url, HEADWATER_API_KEY: hw.apiKey });
  });
  afterAll(async () => {
    await user?.remove();
    await hw?.stop();
  });

  const CODE = `export default { name: "Counter", version: "1", props: { http: "$.interface.http" },
    run(event) { console.log("number", event.body.number); if (event.body.number === 13) throw new Error("unlucky");
      this.$emit({ number: event.body.number }, { name: event.body.channel }); } };`;

  const send = (endpoint: string, body: unknown) =>
    fetch(endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

  test('hw events -f shows recent events, then new ones, each once', async () => {
    const { id, endpoint } = await hw.deploy(CODE);
    for (let number = 1; number <= 3; number++) await send(endpoint, { number });
    await hw.untilEvents(id, 3);
    const cli = user.start(['events', 'counter', '-f', '-n', '2', '--json']);
    await eventually(() => numbers(cli).length === 2);
    for (let number = 4; number <= 30; number++) if (number !== 13) await send(endpoint, { number });
    await eventually(() => numbers(cli).length >= 28, { timeoutMs: 20_000 });
    const shown = numbers(cli).toSorted((a, b) => a - b);
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown.slice(-26)).toEqual([...Array(27).keys()].map((at) => at + 4).filter((number) => number !== 13));
    expect((await cli.end()).code).toBe(130);
  });

  test('hw logs -f shows lines and what runs fail with, and --channel only its events', async () => {
    await writeFile(path.join(user.workDir, 'counter.mjs'), CODE);
    const source = await user.json('deploy', 'counter.mjs', '--name', 'logged');
    const endpoint = source.configured_props.http.endpoint_url as string;
    const logs = user.start(['logs', 'logged', '-f']);
    const events = user.start(['events', 'logged', '-f', '--channel', 'odd', '--json']);
    await send(endpoint, { number: 13 });
    await send(endpoint, { number: 2 });
    await send(endpoint, { number: 3, channel: 'odd' });
    await logs.untilOutput(/number 13/);
    await logs.untilOutput(/COMPONENT_ERROR .*unlucky/);
    await logs.untilOutput(/number 3\n/);
    await eventually(() => numbers(events).length > 0);
    expect(numbers(events)).toEqual([3]);
    expect((await logs.end('SIGTERM')).code).toBe(130);
    await events.end();
  });
});
