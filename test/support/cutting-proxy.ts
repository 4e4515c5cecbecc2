import net from 'node:net';

/** In front of a database: what the server says may be lost with its connection. */
export interface CuttingProxy {
  url: string;
  /** From now on, a connection is closed instead of receiving its next query's answer. */
  cut(): void;
  /**
   * The same once a query with these words is made, for the answer to that one. `passesOn` false:
   * the server never sees it.
   */
  cutAt(words: string, passesOn?: boolean): void;
  /** From now on, existing connections pass no data in either direction; new connections work. */
  silence(): void;
  /** The same for new connections. */
  mute(): void;
  /** As before `cut`, `cutAt` and `mute`. */
  pass(): void;
  /** Cuts every connection and refuses new ones, as while a database restarts. */
  refuse(): Promise<void>;
  /** As before `refuse`. */
  accept(): Promise<void>;
  stop(): Promise<void>;
}

export async function startCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<net.Socket>();
  const silencers: (() => void)[] = [];
  let isCutting = false;
  let isMute = false;
  let cutAt: { words: string; passesOn: boolean } | undefined;
  const server = net.createServer((client) => {
    let isSilent = isMute;
    silencers.push(() => (isSilent = true));
    const upstream = net.connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
      sockets.delete(client);
    };
    sockets.add(client);
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    client.on('data', (data) => {
      if (cutAt !== undefined && data.includes(cutAt.words)) {
        isCutting = true;
        if (!cutAt.passesOn) return end();
      }
      if (!isSilent) upstream.write(data);
    });
    upstream.on('data', (data) => isSilent || (isCutting ? end() : client.write(data)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);
  return {
    url: url.href,
    cut: () => void (isCutting = true),
    mute() {
      isMute = true;
      silencers.forEach((silence) => silence());
    },
    silence: () => silencers.forEach((silence) => silence()),
    cutAt: (words, passesOn = true) => void (cutAt = { words, passesOn }),
    pass() {
      isCutting = false;
      isMute = false;
      cutAt = undefined;
    },
    async refuse() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async accept() {
      if (server.listening) return;
      await new Promise<void>((resolve) => server.listen(Number(url.port), '127.0.0.1', resolve));
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
