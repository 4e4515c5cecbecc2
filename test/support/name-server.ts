import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';

/** Types of records: an IPv4 address, an IPv6 address. */
export const [A, AAAA] = [1, 28] as const;
const CNAME = 5;

/**
 * Answer for a name: addresses of both families, optionally behind an alias. `silent`: no answer at
 * all.
 */
export type DnsAnswer = 'silent' | 'unknown' | { alias?: string; addresses: string[] };

export interface NameServer {
  /** `127.0.0.1:port`. */
  address: string;
  stop(): Promise<void>;
}

interface Question {
  /** In lower case. */
  name: string;
  type: number;
  /** Offset of its end in the message. */
  end: number;
}

const HEADER_BYTES = 12;
const RESPONSE = 0x8180;
const NO_SUCH_NAME = 0x8183;
/** The name of the question, which is at the 12th byte. */
const ASKED_NAME = Buffer.from([0xc0, HEADER_BYTES]);

/**
 * A DNS server on loopback (https://www.rfc-editor.org/rfc/rfc1035, over UDP). Its answers have a
 * TTL of 0.
 */
export async function startNameServer(answer: (name: string, type: number) => DnsAnswer): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked = new Map<string, DnsAnswer>();
  socket.on('message', (query, from) => {
    const question = readQuestion(query);
    // After a slow answer the client repeats the message; that is not a new question.
    const message = `${from.port} ${query.toString('latin1')}`;
    const given = asked.get(message) ?? answer(question.name, question.type);
    asked.set(message, given);
    if (given !== 'silent') socket.send(messageOf(query, question, given), from.port, from.address);
  });
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    stop: () => new Promise((closed) => socket.close(closed)),
  };
}

function readQuestion(query: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function messageOf(query: Buffer, { type, end }: Question, answer: Exclude<DnsAnswer, 'silent'>): Buffer {
  const records = answer === 'unknown' ? [] : recordsOf(answer, type);
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(answer === 'unknown' ? NO_SUCH_NAME : RESPONSE, 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...records]);
}

function recordsOf({ alias, addresses }: Exclude<DnsAnswer, string>, type: number): Buffer[] {
  const owner = alias === undefined ? ASKED_NAME : encodeName(alias);
  const wanted = addresses.filter((address) => (isIPv4(address) ? A : AAAA) === type);
  const records = wanted.map((address) => recordOf(owner, type, bytesOf(address)));
  return alias === undefined ? records : [recordOf(ASKED_NAME, CNAME, owner), ...records];
}

/** With 0 seconds to live. */
function recordOf(name: Buffer, type: number, data: Buffer): Buffer {
  return Buffer.concat([name, Buffer.from([0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // In a URL the last groups are never written as IPv4.
  const { hostname } = new URL(`http://[${address}]`);
  const [first = [], last = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((groups) => groups.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - first.length - last.length).fill('0');
  return Buffer.from([...first, ...zeros, ...last].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}
