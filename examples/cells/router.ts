/**
 * One name in front of several cells: each request goes to the cell of its account. README.md
 * beside it says what the table has, and how an account moves.
 *
 *   HEADWATER_ADMIN_KEY=… node examples/cells/router.ts <table.json> [port, default 8080]
 */
import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { createOwners, endpointOfHost, hostName, MOVING, ownedBy, Refusal, watchTable } from './find-cell.ts';

const CONNECT_MS = 5_000;
/** Longer than an endpoint takes to answer. Streams have a sign of life every 15 s. */
const SILENCE_MS = 330_000;
const HOLD_MS = 25_000;
const MAX_HELD = 1_000;
const SHUTDOWN_MS = 30_000;
const HOP_HEADERS = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade', 'expect'];
/** They frame a request, or say whose it is: the cell must read what the router has read. */
const NEVER_HOP = /^(?:host|content-length|transfer-encoding|authorization|cookie|(?:x-)?forwarded.*)$/;

const [file, port = '8080'] = process.argv.slice(2);
const adminKey = process.env['HEADWATER_ADMIN_KEY'];
if (file === undefined || adminKey === undefined) {
  console.error('usage: HEADWATER_ADMIN_KEY=… node router.ts <table.json> [port]');
  process.exit(2);
}

/** Aborted when the table has changed. */
let reading = new AbortController();
const watched = watchTable(file, () => {
  owners.forget();
  for (const account of accountsThatMove()) {
    // A stream would keep its account here for hours. Its client connects again, and is held.
    for (const response of open.get(account) ?? []) if (streams.has(response)) response.destroy();
    tellIfIdle(account);
  }
  reading.abort();
  reading = new AbortController();
});
const owners = createOwners(watched.current, adminKey);
/** Requests that a cell has, by account. */
const open = new Map<string, Set<ServerResponse>>();
const streams = new WeakSet<ServerResponse>();
let held = 0;

const cellInTable = (account: string) => watched.current().accounts?.[account];
const accountsThatMove = () =>
  Object.keys(watched.current().accounts ?? {}).filter((account) => cellInTable(account) === MOVING);

function tellIfIdle(account: string): void {
  if (cellInTable(account) === MOVING && !open.has(account)) console.log(`${account} has no request under way`);
}

async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const host = hostName(request.headers.host);
  const { endpointDomain } = watched.current();
  const isProbe = /^(?:GET|HEAD) \/(?:livez|readyz)$/.test(`${request.method} ${request.url}`);
  if (isProbe && endpointOfHost(host, endpointDomain) === undefined) return void response.end('ok\n');
  const never = hopNames(request.headers.connection).find((name) => NEVER_HOP.test(name));
  if (never !== undefined) throw new Refusal(400, `The header connection must not name ${never}`);
  const owned = ownedBy(request, host, endpointDomain);
  for (const since = Date.now(); ; ) {
    const { signal } = reading;
    const owner = owned === undefined ? undefined : await owners.find(owned);
    const cell = owner && (cellInTable(owner.account) ?? owner.cell);
    if (response.destroyed) return;
    if (cell !== MOVING) return forward(request, response, cell ?? cellOfHost(host), owner?.account);
    const leftMs = since + HOLD_MS - Date.now();
    if (leftMs <= 0 || held >= MAX_HELD) throw new Refusal(503, `${owner?.account} moves to another cell`);
    held++;
    const gone = once(response, 'close', { signal: AbortSignal.any([signal, AbortSignal.timeout(leftMs)]) });
    await gone.catch(() => undefined).finally(() => held--);
  }
}

function cellOfHost(host: string): string {
  const { cells } = watched.current();
  const names = Object.keys(cells);
  return names.find((name) => cells[name]?.host === host) ?? names[0] ?? '';
}

function forward(request: IncomingMessage, response: ServerResponse, cell: string, account: string | undefined): void {
  const url = new URL(watched.current().cells[cell]?.url ?? '');
  const { method = 'GET', url: path = '/' } = request;
  const { request: send } = url.protocol === 'https:' ? https : http;
  const upstream = send(url, { method, path, headers: headersFor(request) });
  let isConnected = false;
  const connected = () => {
    isConnected = true;
    upstream.setTimeout(SILENCE_MS);
  };
  upstream.once('socket', (socket) => {
    upstream.setTimeout(CONNECT_MS);
    if (socket.connecting) socket.once('connect', connected);
    else connected();
  });
  upstream.once('timeout', () => upstream.destroy(new Error('it is silent')));
  upstream.once('response', (answer) => {
    const { statusCode = 502, statusMessage = '', headers, rawHeaders } = answer;
    if (/event-stream|ndjson/.test(headers['content-type'] ?? '')) streams.add(response);
    // Node frames the body anew, as the client's version of HTTP needs it.
    response.writeHead(statusCode, statusMessage, without(rawHeaders, headers.connection, ['transfer-encoding']));
    response.flushHeaders();
    answer.once('error', () => response.destroy()).pipe(response);
  });
  upstream.once('error', ({ message }) => {
    if (response.destroyed) return;
    // It was not sent, or nobody knows whether the cell has taken it.
    const how = isConnected ? 'ended the connection before its answer' : 'is away';
    console.error(`The cell ${cell} ${how}: ${message}`);
    refuse(response, new Refusal(isConnected ? 502 : 503, `The cell ${cell} ${how}`));
  });
  if (account !== undefined) open.set(account, (open.get(account) ?? new Set()).add(response));
  response.once('close', () => {
    upstream.destroy();
    const left = open.get(account ?? '');
    left?.delete(response);
    if (account !== undefined && left?.size === 0 && open.delete(account)) tellIfIdle(account);
  });
  // Without a length Node would write the body of a GET behind its head, as the next request.
  if (request.headers['content-length'] ?? request.headers['transfer-encoding']) request.pipe(upstream);
  else upstream.end();
}

function headersFor({ headers, rawHeaders, socket }: IncomingMessage): string[] {
  const before = headers['x-forwarded-for'];
  const peer = socket.remoteAddress ?? '';
  const forwardedFor = before === undefined ? peer : `${String(before)}, ${peer}`;
  return [...without(rawHeaders, headers.connection, ['x-forwarded-for']), 'x-forwarded-for', forwardedFor];
}

const hopNames = (connection = '') => connection.toLowerCase().split(/[\s,]+/);

/** Names and values in turn, without those of one connection. */
function without(raw: readonly string[], connection: string | undefined, more: readonly string[]): string[] {
  const gone = new Set([...HOP_HEADERS, ...more, ...hopNames(connection)]);
  return raw.filter((_, at) => !gone.has(raw[at - (at % 2)]?.toLowerCase() ?? ''));
}

function refuse(response: ServerResponse, { status, message: detail }: Refusal): void {
  if (response.headersSent) return void response.destroy();
  const again = status < 500 ? undefined : 5;
  const problem = { type: 'about:blank', title: http.STATUS_CODES[status], status, detail, error: detail };
  response.setHeader('content-type', 'application/problem+json');
  if (again !== undefined) response.setHeader('retry-after', again);
  // The rest of its body is read by nobody.
  if (!response.req.complete) response.setHeader('connection', 'close');
  response.writeHead(status).end(JSON.stringify({ ...problem, retry_after_seconds: again }));
}

const server = http.createServer((request, response) => {
  route(request, response).catch((error: Error) => {
    if (!(error instanceof Refusal)) console.error(error);
    refuse(response, error instanceof Refusal ? error : new Refusal(502, 'The router could not pass this on'));
  });
});
const host = process.env['HOST'] ?? '127.0.0.1';
server.listen(Number(port), host, () => console.log(`The router listens on ${host}:${port}`));
process.once('SIGTERM', () => {
  watched.stop();
  server.close();
  setTimeout(() => server.closeAllConnections(), SHUTDOWN_MS).unref();
});
