import { createSocket } from 'node:dgram';
import { afterAll, beforeAll } from 'vitest';

const [A, CNAME] = [1, 5];

export interface NameServer {
  /** `127.0.0.1:port`. */
  address(): string;
  questions(): number;
}

/** A DNS server on loopback. Answers each question for an IPv4 address with one, behind an alias where there is one. */
export function nameServer(answer: (name: string) => 'silent' | { alias?: string; address: string }): NameServer {
  const socket = createSocket('udp4');
  let port = 0;
  let questions = 0;
  socket.on('message', (query, from) => {
    questions++;
    const { name, type, end } = readQuestion(query);
    const reply = answer(name);
    if (reply === 'silent') return;
    const records = type === A ? recordsOf(reply) : [];
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address);
  });
  beforeAll(async () => {
    await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound));
    port = socket.address().port;
  });
  afterAll(() => new Promise<void>((closed) => socket.close(closed)));
  return { address: () => `127.0.0.1:${port}`, questions: () => questions };
}

/** The name of the question is at byte 12, which is what the first record points at. */
function recordsOf({ alias, address }: { alias?: string; address: string }): Buffer[] {
  const asked = Buffer.from([0xc0, 12]);
  const bytes = Buffer.from(address.split('.').map(Number));
  if (alias === undefined) return [recordOf(asked, A, bytes)];
  const target = encodeName(alias);
  return [recordOf(asked, CNAME, target), recordOf(target, A, bytes)];
}

function recordOf(name: Buffer, type: number, data: Buffer): Buffer {
  return Buffer.concat([name, Buffer.from([0, type, 0, 1, 0, 0, 0, 1, 0, data.length]), data]);
}

function encodeName(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.alloc(1),
  ]);
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}
