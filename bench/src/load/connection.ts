import { connect, type Socket } from 'node:net';

/**
 * One keep-alive HTTP/1.1 connection with one request in flight. A general client costs ten times
 * as much, and the driver shares its processors with the measured server. Reads only answers with a
 * content-length.
 */
export interface Connection {
  /** `done` gets the status once the answer is here to its last byte. */
  send(request: string, done: (status: number) => void): void;
  close(): void;
}

export interface Target {
  host: string;
  port: number;
}

const HEAD_END = '\r\n\r\n';
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const STATUS_AT = 'HTTP/1.1 '.length;

/** Resolves when connected. `onFailure` gets what ended the connection before close(). */
function openConnection(target: Target, onFailure: (error: Error) => void): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...target, noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(speakHttp(socket, onFailure));
    });
  });
}

function speakHttp(socket: Socket, onFailure: (error: Error) => void): Connection {
  let received = '';
  let waiting: ((status: number) => void) | undefined;
  let closed = false;

  function fail(error: Error): void {
    if (closed) return;
    closed = true;
    socket.destroy();
    onFailure(error);
  }

  socket.on('error', fail);
  socket.on('close', () => fail(new Error('The server closed a connection')));
  socket.on('data', (chunk) => {
    received = received === '' ? chunk.toString('latin1') : received + chunk.toString('latin1');
    const headEnd = received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const length = CONTENT_LENGTH.exec(received)?.[1];
    if (length === undefined) return fail(new Error(`An answer without content-length: ${received.slice(0, headEnd)}`));
    if (received.length < headEnd + HEAD_END.length + Number(length)) return;
    const status = Number(received.slice(STATUS_AT, STATUS_AT + 3));
    received = '';
    const done = waiting;
    waiting = undefined;
    if (done === undefined) return fail(new Error('An answer that nobody asked for'));
    done(status);
  });
  return {
    send(request, done) {
      waiting = done;
      socket.write(request, 'latin1');
    },
    close() {
      closed = true;
      socket.destroy();
    },
  };
}

/** Opens `count` connections, or none: when one cannot be opened the others are closed again. */
export async function openConnections(
  target: Target,
  count: number,
  onFailure: (error: Error) => void,
): Promise<Connection[]> {
  const opened = await Promise.allSettled(Array.from({ length: count }, () => openConnection(target, onFailure)));
  const connections = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = opened.find((result) => result.status === 'rejected');
  if (failed === undefined) return connections;
  for (const connection of connections) connection.close();
  throw failed.reason;
}
