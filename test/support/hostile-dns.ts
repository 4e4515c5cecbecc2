import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { A, AAAA, type DnsAnswer, type NameServer, startNameServer } from './name-server.ts';

const CONTROL_VARIABLE = 'HEADWATER_TEST_SHARED_DNS';

interface KnownName {
  /**
   * To the first question for either family, the second, and so on; the last one again and again.
   */
  answers: DnsAnswer[];
  asked: { [A]: number; [AAAA]: number };
}

/**
 * The DNS server of the server that all attacks share. Test files set its answers; other names are
 * unknown.
 */
export async function startSharedDns(): Promise<NameServer> {
  const names = new Map<string, KnownName>();
  const { address, stop } = await startNameServer((name, type) => nextAnswer(names.get(name), type));
  const control = createServer((request, response) => void serveControl(request, response, names));
  await new Promise<void>((listening) => control.listen(0, '127.0.0.1', listening));
  process.env[CONTROL_VARIABLE] = `http://127.0.0.1:${(control.address() as AddressInfo).port}/`;
  return {
    address,
    async stop() {
      control.closeAllConnections();
      await new Promise((closed) => control.close(closed));
      await stop();
    },
  };
}

function nextAnswer(known: KnownName | undefined, type: number): DnsAnswer {
  if (known === undefined) return 'unknown';
  const { answers, asked } = known;
  if (type !== A && type !== AAAA) return { addresses: [] };
  return answers[Math.min(asked[type]++, answers.length - 1)] ?? 'silent';
}

async function serveControl(
  request: IncomingMessage,
  response: ServerResponse,
  names: Map<string, KnownName>,
): Promise<void> {
  const name = decodeURIComponent(request.url ?? '').slice(1);
  if (request.method === 'PUT') {
    names.set(name, { answers: (await json(request)) as DnsAnswer[], asked: { [A]: 0, [AAAA]: 0 } });
    response.writeHead(204).end();
    return;
  }
  const asked = names.get(name)?.asked;
  response.end(JSON.stringify({ A: asked?.[A] ?? 0, AAAA: asked?.[AAAA] ?? 0 }));
}

let made = 0;

/**
 * A new name with these answers: the first question gets the first one, later questions the last.
 */
export async function nameWith(...answers: DnsAnswer[]): Promise<string> {
  const name = `name-${process.pid}-${Date.now()}-${made++}.test`;
  await answerName(name, ...answers);
  return name;
}

/** As `nameWith`, for a name that matters. */
export async function answerName(name: string, ...answers: DnsAnswer[]): Promise<void> {
  const { status } = await fetch(controlUrl(name), { method: 'PUT', body: JSON.stringify(answers) });
  if (status !== 204) throw new Error(`The name was not taken: ${status}`);
}

/** How many questions for its addresses of each family there were. */
export async function questionsFor(name: string): Promise<{ A: number; AAAA: number }> {
  const answer = await fetch(controlUrl(name));
  return (await answer.json()) as { A: number; AAAA: number };
}

function controlUrl(name: string): URL {
  const control = process.env[CONTROL_VARIABLE];
  if (control === undefined) throw new Error('No DNS: attacks run in the project "hostile" of vitest.config.ts');
  return new URL(encodeURIComponent(name), control);
}
