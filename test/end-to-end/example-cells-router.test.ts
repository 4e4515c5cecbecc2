import { once } from 'node:events';
import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { rawRequest } from '../support/http-server.ts';
import { startProcess, type TestProcess } from '../support/processes.ts';
import { freePort } from '../support/server.ts';

// Cells that record what comes over the wire, and that are silent or away when a test says so.
const ROUTER = path.resolve(import.meta.dirname, '../../examples/cells/router.ts');

interface Cell {
  name: string;
  server: Server;
  port: number;
  /** Accounts by the key of their endpoint. */
  accounts: Map<string, string>;
  /** Keys that it was asked for. */
  asked: string[];
  /** Lookups that wait, if it answers none. */
  held: ServerResponse[] | undefined;
  mostHeld: number;
  /** Method, path and body of the requests of clients. */
  got: string[];
}

let cells: [Cell, Cell];
let router: TestProcess;
let port: number;
let table: string;
let keys = 0;

async function startCell(name: string): Promise<Cell> {
  const answerTo = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url = '/' } = request;
    const body = await text(request);
    const key = /^\/v1\/tenants\?endpoint_key=([^&]*)/.exec(url)?.[1];
    if (key === undefined) {
      cell.got.push(`${method} ${url} ${body}`);
      return response.end(name);
    }
    cell.asked.push(key);
    const id = cell.accounts.get(key);
    const answer = () => response.end(JSON.stringify({ data: id === undefined ? [] : [{ id }] }));
    if (cell.held === undefined) return answer();
    response.once('answer', answer);
    cell.mostHeld = Math.max(cell.mostHeld, cell.held.push(response));
    response.once('close', () => (cell.held = cell.held?.filter((other) => other !== response)));
  };
  const server = createServer((request, response) => void answerTo(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port: at } = server.address() as AddressInfo;
  const cell: Cell = { name, server, port: at, accounts: new Map(), asked: [], held: undefined, mostHeld: 0, got: [] };
  return cell;
}

async function put(endpointDomain: string): Promise<void> {
  const at = (cell: Cell) => ({ url: `http://127.0.0.1:${cell.port}` });
  const value = { endpointDomain, cells: { one: at(cells[0]), two: at(cells[1]) } };
  await writeFile(`${table}.new`, JSON.stringify(value));
  await rename(`${table}.new`, table);
}

/** A key that the cells know. */
function newKey(...owners: Cell[]): string {
  const key = `k${++keys}`;
  for (const { accounts } of owners) accounts.set(key, `o_${key}`);
  return key;
}

const get = (key: string) => rawRequest(port, { path: `/e/${key}` });

/** The answers to what is sent on one connection, once it ends. */
async function onOneConnection(sent: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(sent);
  let answers = '';
  for await (const chunk of socket) answers += chunk;
  return answers;
}

beforeAll(async () => {
  cells = [await startCell('one'), await startCell('two')];
  table = path.join(await mkdtemp(path.join(tmpdir(), 'headwater-cells-')), 'table.json');
  await put('Hooks.Test:8443');
  port = await freePort();
  router = startProcess({ args: [ROUTER, table, String(port)], env: { HEADWATER_ADMIN_KEY: 'hw_admin' } });
  await router.untilOutput(/The router listens/);
});
afterAll(async () => {
  await router.end();
  for (const { server } of cells) {
    server.close();
    server.closeAllConnections();
  }
});

test('a client cannot have its own body read as a request of another one', async () => {
  const key = newKey(cells[1]);
  const hidden = `POST /e/${key} HTTP/1.1\r\nhost: x\r\ncontent-length: 200\r\n\r\n`;
  const chunked = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
  const framed = [
    ['content-length', `content-length: ${hidden.length}\r\n\r\n${hidden}`],
    ['Transfer-Encoding', `transfer-encoding: chunked\r\n\r\n${chunked}`],
  ];
  cells[1].got = [];
  const expected: string[] = [];
  for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST'])
    for (const [name, rest] of framed)
      for (const more of ['', 'expect: 100-continue\r\n', 'upgrade: websocket\r\n']) {
        const start = `${method} /e/${key} HTTP/1.1\r\nhost: x\r\n${more}`;
        const refused = await onOneConnection(`${start}connection: keep-alive , ${name}, upgrade\r\n${rest}`);
        expect(refused).toMatch(/^(HTTP\/1.1 100 Continue\r\n\r\n)?HTTP\/1.1 400 /);
        expect(refused.split('HTTP/1.1 4').length).toBe(2);
        const passed = await onOneConnection(`${start}connection: close, upgrade\r\n${rest}`);
        expect(passed).toMatch(/HTTP\/1.1 200 /);
        expected.push(`${method} /e/${key} ${hidden}`);
      }
  for (const name of ['Host', 'authorization', 'cookie', 'x-forwarded-proto']) {
    const answer = await rawRequest(port, { path: `/e/${key}`, headers: { connection: `close, ${name}` } });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`must not name ${name.toLowerCase()}`)]);
  }
  expect(cells[1].got).toEqual(expected);
});

test('the host of an endpoint is found however the table writes the domain', async () => {
  const key = newKey(cells[1]);
  for (const host of [`${key}.hooks.test`, `${key}.HOOKS.test:8443`])
    expect((await rawRequest(port, { path: '/', headers: { host } })).text).toBe('two');
});

test('a probe is answered by the router, and an event to the same path is not', async () => {
  const key = newKey(cells[1]);
  for (const probe of ['/livez', '/readyz']) {
    cells[1].got = [];
    expect((await rawRequest(port, { path: probe })).text).toBe('ok\n');
    for (const method of ['POST', 'GET']) {
      const event = { method, path: probe, headers: { host: `${key}.hooks.test` }, body: ['{}'] };
      expect((await rawRequest(port, event)).text).toBe('two');
    }
    expect((await rawRequest(port, { method: 'POST', path: probe })).text).toBe('one');
    expect(cells[1].got).toEqual([`POST ${probe} {}`, `GET ${probe} {}`]);
  }
});

test('unknown keys ask a cell sixteen at once, and known keys do not wait', async () => {
  const known = newKey(cells[1]);
  await get(known);
  cells[0].held = [];
  const strangers = Array.from({ length: 100 }, (_, n) => get(`stranger${n}`));
  await eventually(() => cells[0].held?.length === 16, { what: 'sixteen lookups' });
  expect((await get(known)).text).toBe('two');
  const { held } = cells[0];
  cells[0].held = undefined;
  for (const response of held) response.emit('answer');
  // Those that have waited for 2 s are told 503.
  const answers = await Promise.all(strangers);
  expect(cells[0].mostHeld).toBe(16);
  expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
});

test('a cell that is slow to answer a stranger is asked for the next key all the same', async () => {
  const key = newKey(cells[0]);
  cells[0].held = [];
  expect((await get('nobody')).status).toBe(503);
  cells[0].held = undefined;
  expect((await get(key)).text).toBe('one');
});

test('the cells are not asked again and again for an unknown key', async () => {
  const asked = () => cells[0].asked.filter((key) => key === 'unknown').length;
  await eventually(
    async () => {
      const before = asked();
      await get('unknown');
      return before > 0 && asked() === before;
    },
    { what: 'an answer that was kept' },
  );
  expect(asked()).toBeGreaterThan(0);
});

test('an account in two cells is refused as soon as both of them answer', async () => {
  const key = newKey(...cells);
  const [, { server, port: at }] = cells;
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  expect((await get(key)).text).toBe('one');
  await once(server.listen(at, '127.0.0.1'), 'listening');
  await eventually(async () => (await get(key)).status === 503, { what: 'the refusal' });
  expect((await get(key)).text).toContain(`o_${key} is in the cells one, two`);
});

test('a domain that is none is not taken from the table', async () => {
  const key = newKey(cells[1]);
  await put('https://hooks.test');
  await router.untilOutput(/The table stays as it was: endpointDomain https:\/\/hooks.test is no domain name/);
  expect((await rawRequest(port, { path: '/', headers: { host: `${key}.hooks.test` } })).text).toBe('two');
});
