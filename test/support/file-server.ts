import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves files of a test on loopback, as a host of raw code does. */
export interface FileServer {
  /** `http://127.0.0.1:<port>` */
  url: string;
  serve(path: string, text: string): void;
  redirect(path: string, to: string): void;
  stop(): Promise<void>;
}

export async function startFileServer(): Promise<FileServer> {
  const texts = new Map<string, string>();
  const moved = new Map<string, string>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const to = moved.get(path);
    const text = texts.get(path);
    if (to !== undefined) response.writeHead(302, { location: to }).end();
    else if (text === undefined) response.writeHead(404).end('Not found');
    else response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (path, text) => void texts.set(path, text),
    redirect: (path, to) => void moved.set(path, to),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
