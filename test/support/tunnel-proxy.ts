import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface TunnelProxy {
  port: number;
  /** The authorities that were asked for, and what the requests carried. */
  asked: { authority: string; authorization: string | undefined }[];
  /** Requests other than CONNECT: there should be none. */
  others: string[];
  stop(): Promise<void>;
}

/**
 * An HTTP proxy on loopback. It connects to loopback for any address, because no other network is
 * there. `status`: status of its answers.
 */
export async function startTunnelProxy(options: { status?: number; host?: string } = {}): Promise<TunnelProxy> {
  const { status = 200, host = '127.0.0.1' } = options;
  const sockets = new Set<Socket>();
  const proxy: TunnelProxy = { port: 0, asked: [], others: [], stop: () => close(server, sockets) };
  const server = createServer((request, response) => {
    proxy.others.push(`${request.method} ${request.url}`);
    response.writeHead(405).end();
  });
  server.on('connect', (request, client: Socket, head: Buffer) => {
    const authority = request.url ?? '';
    proxy.asked.push({ authority, authorization: request.headers['proxy-authorization'] });
    if (status !== 200) return void client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const target = connect(Number(authority.slice(authority.lastIndexOf(':') + 1)), '127.0.0.1');
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    }
    target.on('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      client.pipe(target).pipe(client);
    });
    target.on('error', () => client.end('HTTP/1.1 502 Bad gateway\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  proxy.port = (server.address() as AddressInfo).port;
  return proxy;
}

async function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
