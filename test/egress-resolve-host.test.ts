import { createSocket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { afterEach, expect, test } from 'vitest';
import { createHostResolver } from '../engine/src/egress/resolve-host.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const [A, AAAA] = [1, 28];
type Answer = 'silent' | 'unknown' | { type: number; bytes: number[] };

/** A DNS server that answers each question with at most one record. */
async function startDns(
  answer: (name: string, type: number) => Answer,
): Promise<{ server: string; questions: string[] }> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    questions.push(`${name} ${type}`);
    const reply = answer(name, type);
    if (reply === 'silent') return;
    const record = reply !== 'unknown' && reply.type === type ? reply.bytes : undefined;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(reply === 'unknown' ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(record === undefined ? 0 : 1, 6);
    header.writeUInt32BE(0, 8);
    const parts = [header, query.subarray(12, end)];
    if (record) parts.push(Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 1, 0, record.length, ...record]));
    socket.send(Buffer.concat(parts), from.port, from.address);
  });
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound));
  stops.push(() => socket.close());
  return { server: `127.0.0.1:${socket.address().port}`, questions };
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

function resolve(server: string, hostname: string): Promise<LookupAddress[]> {
  const resolver = createHostResolver({ servers: [server] });
  return new Promise((done, fail) => {
    resolver(hostname, (error, addresses) => {
      if (error === null) done(addresses);
      else fail(error);
    });
  });
}

test('a domain name is asked of DNS, both families, IPv4 first', async () => {
  const both = await startDns((_, type) =>
    type === A
      ? { type: A, bytes: [93, 184, 215, 14] }
      : { type: AAAA, bytes: [0x20, 1, ...Array<number>(13).fill(0), 1] },
  );
  expect(await resolve(both.server, 'a.test')).toEqual([
    { address: '93.184.215.14', family: 4 },
    { address: '2001::1', family: 6 },
  ]);
  const one = await startDns(() => ({ type: AAAA, bytes: Array<number>(16).fill(1) }));
  expect((await resolve(one.server, 'b.test')).map((entry) => entry.family)).toEqual([6]);
});

test('names that never resolve do not hold up the lookups of others', async () => {
  const dead = await startDns(() => 'silent');
  const stuck = Array.from({ length: 20 }, (_, i) => resolve(dead.server, `slow-${i}.test`));
  const outcomes = Promise.allSettled(stuck);
  await expect.poll(() => new Set(dead.questions).size).toBe(40);
  const startedMs = performance.now();
  expect((await lookup('localhost')).address).toMatch(/^(127\.0\.0\.1|::1)$/);
  expect(await resolve(dead.server, 'localhost')).not.toEqual([]);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  expect((await outcomes).every((outcome) => outcome.status === 'rejected')).toBe(true);
});

test('a name that DNS does not know is looked for in the system, and one without a dot only there', async () => {
  const dns = await startDns(() => 'unknown');
  await expect(resolve(dns.server, 'nowhere.invalid')).rejects.toMatchObject({ syscall: 'getaddrinfo' });
  dns.questions.splice(0);
  expect((await resolve(dns.server, 'localhost')).length).toBeGreaterThan(0);
  expect(dns.questions).toEqual([]);
});

test('names that only the system can know are looked up for tenants in turn, and so many of one wait', async () => {
  const resolver = createHostResolver();
  const answered: string[] = [];
  const ask = (name: string, tenantId: string) =>
    new Promise<string | undefined>((done) => {
      resolver(
        name,
        (error) => {
          answered.push(tenantId);
          done(error?.code);
        },
        tenantId,
      );
    });
  const attacker = Array.from({ length: 40 }, (_, i) => ask(`nowhere-${i}`, 'attacker'));
  const refused = answered.length;
  const neighbour = ask('nowhere', 'neighbour');
  await neighbour;
  // The one that was under way, and the first that waited.
  expect(answered.length).toBeLessThanOrEqual(refused + 3);
  // One is under way, and sixteen wait.
  expect((await Promise.all(attacker)).filter((code) => code === 'EAGAIN')).toHaveLength(40 - 17);
});
