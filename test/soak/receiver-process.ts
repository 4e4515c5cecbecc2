import { createWriteStream } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createRandom } from './random.ts';
import { ATTEMPTS_FILE, type AttemptLine, CALLS_FILE } from './receiver-records.ts';

/*
 * The receiver of the soak, a process of its own: what the load and the nodes' logs cost the soak
 * must not keep a node's connection waiting. It notes everything in files and keeps nothing.
 *
 * Arguments: the folder of the files, and the seed of its failures. It sends its port when it
 * listens, and ends when it is told to or when the soak has gone.
 */

const ANSWERED_500 = 0.04;
const CUT_OFF = 0.01;

const [folder = '', seed = ''] = process.argv.slice(2);
const random = createRandom(Number(seed));
const attempts = createWriteStream(path.join(folder, ATTEMPTS_FILE));
const calls = createWriteStream(path.join(folder, CALLS_FILE));

function takeWebhook(request: IncomingMessage, response: ServerResponse, body: string): void {
  const [, , tenant = '', hook = ''] = request.url?.split('/') ?? [];
  const drawn = random.next();
  const isTaken = drawn >= ANSWERED_500 + CUT_OFF;
  const line: AttemptLine = [Number(tenant), hook, String(request.headers['webhook-id']), isTaken ? 1 : 0, body];
  attempts.write(`${JSON.stringify(line)}\n`);
  if (drawn < CUT_OFF) response.destroy();
  else response.writeHead(isTaken ? 200 : 500).end();
}

function takeCall(response: ServerResponse, body: string): void {
  const call = JSON.parse(body) as object;
  calls.write(`${JSON.stringify({ ...call, atMs: Date.now() })}\n`);
  response.writeHead(200).end();
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    if (request.url?.startsWith('/hook/') === true) takeWebhook(request, response, body);
    else takeCall(response, body);
  });
  // A node that is killed in the middle of its request sends it again.
  request.on('error', () => response.destroy());
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

function stop(): void {
  server.closeAllConnections();
  server.close(() => attempts.end(() => calls.end(() => process.disconnect())));
}

process.once('message', stop);
process.once('disconnect', () => process.exit());
