import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from './random.ts';
import type { Messages, StepCall, WebhookMessage } from './records.ts';
import type { ReceiverUrls } from './tenants.ts';

/** Takes webhooks, of which some fail, and the calls of steps, which do not. Notes both. */
export interface SoakReceiver {
  urlsOf(tenant: number): ReceiverUrls;
  /** By the name of the webhook. */
  hooksOf(tenant: number): ReadonlyMap<string, Messages>;
  calls: readonly StepCall[];
  stop(): Promise<void>;
}

const ANSWERED_500 = 0.04;
const CUT_OFF = 0.01;

export async function startReceiver(random: Random): Promise<SoakReceiver> {
  const hooks = new Map<string, Map<string, Map<string, WebhookMessage>>>();
  const calls: StepCall[] = [];
  let attempts = 0;

  function messagesOf(tenant: string, name: string): Map<string, WebhookMessage> {
    const ofTenant = getOrMake(hooks, tenant, () => new Map<string, Map<string, WebhookMessage>>());
    return getOrMake(ofTenant, name, () => new Map<string, WebhookMessage>());
  }

  function takeWebhook(request: IncomingMessage, response: ServerResponse, body: string): void {
    const [, , tenant = '', name = ''] = request.url?.split('/') ?? [];
    const id = String(request.headers['webhook-id']);
    const attempt = ++attempts;
    const first = () => ({ id, bodies: [body], taken: 0, failed: 0, firstTry: attempt, firstTaken: 0 });
    const message = getOrMake(messagesOf(tenant, name), id, first);
    if (!message.bodies.includes(body)) message.bodies.push(body);
    const drawn = random.next();
    if (drawn < ANSWERED_500 + CUT_OFF) message.failed++;
    else if (message.taken++ === 0) message.firstTaken = attempt;
    if (drawn < CUT_OFF) response.destroy();
    else response.writeHead(drawn < ANSWERED_500 + CUT_OFF ? 500 : 200).end();
  }

  function takeCall(response: ServerResponse, body: string): void {
    calls.push({ ...(JSON.parse(body) as Omit<StepCall, 'atMs'>), atMs: Date.now() });
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    urlsOf: (tenant) => ({ hook: (name) => `${url}/hook/${tenant}/${name}`, step: `${url}/step/${tenant}` }),
    hooksOf: (tenant) => hooks.get(String(tenant)) ?? new Map<string, Messages>(),
    calls,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
