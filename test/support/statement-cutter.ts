import net from 'node:net';

/**
 * A connection ends at the statement `at`, counted from 1, or at the first commit: before the
 * server has seen it, or before the client has its answer.
 */
export interface StatementCut {
  at: number | 'commit';
  when: 'before' | 'answered';
}

/** A proxy in front of a database: cuts connections at any statement. */
export interface StatementCutter {
  url: string;
  /** Counts from here. One connection is cut, once. */
  arm(cut: StatementCut): void;
  /** Whether a connection was cut since it was armed. */
  hasCut(): boolean;
  /** The same; nothing is cut any more. */
  disarm(): boolean;
  stop(): Promise<void>;
}

const [QUERY, SYNC] = [0x51, 0x53];
/** A longer statement is none that only commits. */
const MAX_COMMIT_BYTES = 100;

export async function startStatementCutter(databaseUrl: string): Promise<StatementCutter> {
  const target = new URL(databaseUrl);
  const sockets = new Set<net.Socket>();
  let armed: StatementCut | undefined;
  let hasCut = false;
  /** Answers whether this statement is the one. */
  const isTheOne = (statement: Buffer) => {
    if (armed === undefined) return false;
    if (armed.at === 'commit') return statement.length < MAX_COMMIT_BYTES && statement.includes('commit');
    return --armed.at === 0;
  };
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
      sockets.delete(client);
    };
    let isDeaf = false;
    const statements = statementsOf();
    sockets.add(client);
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    client.on('data', (data) => {
      let from = 0;
      let begun = 0;
      for (const [start, stop] of statements(data)) {
        const statement = data.subarray(begun, stop);
        begun = stop;
        if (!isTheOne(statement)) continue;
        hasCut = true;
        isDeaf = true;
        const until = armed?.when === 'before' ? start : stop;
        armed = undefined;
        if (until > from) upstream.write(data.subarray(from, until));
        from = data.length;
        break;
      }
      if (from < data.length && !isDeaf) upstream.write(data);
      // Earlier statements are already answered. Half-close: the server ends its side only after
      // the statement that it got last.
      if (isDeaf && from === data.length) upstream.end();
    });
    upstream.on('data', (data) => (isDeaf ? undefined : client.write(data)));
    upstream.on('end', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);
  return {
    url: url.href,
    arm(cut) {
      armed = { ...cut };
      hasCut = false;
    },
    hasCut: () => hasCut,
    disarm() {
      armed = undefined;
      const was = hasCut;
      hasCut = false;
      return was;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Finds the messages that end statements in a client's data. Returns each one's start and end in
 * that piece.
 */
function statementsOf(): (data: Buffer) => [start: number, stop: number][] {
  let rest = Buffer.alloc(0);
  let isStarted = false;
  return (data) => {
    const found: [number, number][] = [];
    const before = rest.length;
    const all = Buffer.concat([rest, data]);
    let at = 0;
    for (;;) {
      const typed = isStarted ? 1 : 0;
      if (all.length < at + typed + 4) break;
      const length = typed + all.readInt32BE(at + typed);
      if (all.length < at + length) break;
      if (isStarted && (all[at] === QUERY || all[at] === SYNC))
        found.push([Math.max(0, at - before), at + length - before]);
      isStarted = true;
      at += length;
    }
    rest = all.subarray(at);
    return found;
  };
}
