import { createServer, request as startRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** Path where test files announce their packages. No name of a package begins like this. */
const HOLDERS_PATH = '/-/holders';
const HOLDERS_VARIABLE = 'HEADWATER_TEST_SHARED_REGISTRY';

/**
 * The package registry of the server that all attacks share. It forwards each request to the test
 * file that has the package.
 */
export interface SharedRegistry {
  url: string;
  stop(): Promise<void>;
}

export async function startSharedRegistry(): Promise<SharedRegistry> {
  const holders = new Map<string, string>();
  const server = createServer((request, response) => {
    if (request.url === HOLDERS_PATH) void addHolder(request, response, holders);
    else pass(request, response, holders);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  process.env[HOLDERS_VARIABLE] = url;
  return {
    url,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Says that the registry at `url`, one of the test file, has the packages. */
export async function announcePackages(url: string, names: readonly string[]): Promise<void> {
  const shared = process.env[HOLDERS_VARIABLE];
  if (shared === undefined) throw new Error('No registry: attacks run in the project "hostile" of vitest.config.ts');
  const body = JSON.stringify({ url, names });
  const { status } = await fetch(new URL(HOLDERS_PATH, shared), { method: 'POST', body });
  if (status !== 204) throw new Error(`The packages were not announced: ${status}`);
}

async function addHolder(
  request: IncomingMessage,
  response: ServerResponse,
  holders: Map<string, string>,
): Promise<void> {
  const { url, names } = (await json(request)) as { url: string; names: string[] };
  for (const name of names) holders.set(name, url);
  response.writeHead(204).end();
}

function pass(request: IncomingMessage, response: ServerResponse, holders: ReadonlyMap<string, string>): void {
  const path = request.url ?? '';
  const [name = ''] = decodeURIComponent(path).slice(1).split('/-/');
  const holder = holders.get(name);
  if (holder === undefined) {
    response.writeHead(404).end('{}');
    return;
  }
  const onward = startRequest(new URL(path, holder), (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  // The test file is over, or the server asks no longer.
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  onward.end();
}
