import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { machineMs } from '../clock.ts';
import { EVENTS_PATH, type FromReceiver, ID_CHARS, type ToReceiver } from './messages.ts';

interface Phase {
  atMs: Float64Array;
  distinct: number;
  duplicates: number;
  refuseEvery: number;
}

const BODY_START = '{"id":"';

/**
 * Notes when each event arrived. A process of its own, and as little work a request as can be: it
 * shares the machine.
 */
function startReceiver(say: (message: FromReceiver) => void): (message: ToReceiver) => void {
  const phases = new Map<string, Phase>();
  const totals = { strays: 0, verified: 0, badSignatures: 0 };
  let verify: { keys: Buffer[]; every: number } = { keys: [], every: 0 };
  let requests = 0;

  function isRefused(body: Buffer): boolean {
    const id = body.toString('latin1', BODY_START.length, BODY_START.length + ID_CHARS);
    const every = phases.get(id.charAt(0))?.refuseEvery ?? 0;
    return every > 0 && Number(id.slice(1)) % every === 0;
  }

  function arrived(body: Buffer, headers: IncomingHttpHeaders, atMs: number): void {
    const id = body.toString('latin1', BODY_START.length, BODY_START.length + ID_CHARS);
    const phase = phases.get(id.charAt(0));
    const index = Number(id.slice(1));
    if (phase === undefined || !(index < phase.atMs.length)) totals.strays++;
    else if (phase.atMs[index] === 0) {
      phase.atMs[index] = atMs;
      phase.distinct++;
    } else phase.duplicates++;
    if (verify.every === 0 || requests++ % verify.every !== 0) return;
    totals.verified++;
    const key = verify.keys[index % verify.keys.length];
    if (key === undefined || !isSigned(key, headers, body)) totals.badSignatures++;
  }

  const server = createServer((request, response) => receive(request, response, { isRefused, arrived }));
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1', () => say({ kind: 'listening', port: (server.address() as AddressInfo).port }));

  const none: Phase = { atMs: new Float64Array(), distinct: 0, duplicates: 0, refuseEvery: 0 };
  const phaseOf = (name: string): Phase => phases.get(name) ?? none;
  return (message) => {
    switch (message.kind) {
      case 'begin':
        phases.set(message.phase, {
          ...none,
          atMs: new Float64Array(message.events),
          refuseEvery: message.refuseEvery,
        });
        break;
      case 'verify':
        verify = { keys: message.secrets.map(keyOf), every: message.every };
        break;
      case 'count':
        say({ kind: 'counted', distinct: phaseOf(message.phase).distinct });
        break;
      case 'collect': {
        const { atMs, duplicates } = phaseOf(message.phase);
        say({ kind: 'collected', atMs, duplicates, ...totals });
      }
    }
  };
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace('whsec_', ''), 'base64');
}

interface Counting {
  isRefused: (body: Buffer) => boolean;
  arrived: (body: Buffer, headers: IncomingHttpHeaders, atMs: number) => void;
}

function receive(request: IncomingMessage, response: ServerResponse, { isRefused, arrived }: Counting): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const atMs = machineMs();
    // Other paths are the baselines'.
    const isEvent = request.url === EVENTS_PATH;
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    const refused = isEvent && isRefused(body);
    response.writeHead(refused ? 500 : 200, { 'content-length': 0 });
    response.end();
    if (isEvent && !refused) arrived(body, request.headers, atMs);
  });
}

function isSigned(key: Buffer, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const signed = createHmac('sha256', key)
    .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`)
    .update(body)
    .digest();
  const given = Buffer.from(String(headers['webhook-signature']).replace('v1,', ''), 'base64');
  return given.length === signed.length && timingSafeEqual(given, signed);
}

const onMessage = startReceiver((message) => void process.send?.(message));
process.on('message', (message) => onMessage(message as ToReceiver));
// The bench is gone, however it went.
process.on('disconnect', () => process.exit(0));
