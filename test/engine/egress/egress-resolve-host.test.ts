import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { afterEach, expect, test } from 'vitest';
import { isEgressRefused } from '../../../engine/src/egress/refusal.ts';
import { createHostResolver } from '../../../engine/src/egress/resolve-host.ts';
import { type DnsAnswer, startNameServer } from '../../support/name-server.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function startDns(
  answer: (name: string, type: number) => DnsAnswer,
): Promise<{ server: string; questions: string[] }> {
  const questions: string[] = [];
  const { address, stop } = await startNameServer((name, type) => {
    questions.push(`${name} ${type}`);
    return answer(name, type);
  });
  stops.push(stop);
  return { server: address, questions };
}

function resolve(server: string, hostname: string): Promise<LookupAddress[]> {
  const resolver = createHostResolver([server]);
  return new Promise((done, fail) => {
    resolver(hostname, (error, addresses) => {
      if (error === null) done(addresses);
      else fail(error);
    });
  });
}

test('a domain name is asked of DNS, both families, IPv4 first', async () => {
  const both = await startDns(() => ({ addresses: ['2001::1', '93.184.215.14'] }));
  expect(await resolve(both.server, 'a.test')).toEqual([
    { address: '93.184.215.14', family: 4 },
    { address: '2001::1', family: 6 },
  ]);
  const one = await startDns(() => ({ addresses: ['2606:4700::1111'] }));
  expect((await resolve(one.server, 'b.test')).map((entry) => entry.family)).toEqual([6]);
});

test('names that never resolve do not hold up the lookups of others', async () => {
  const dead = await startDns(() => 'silent');
  const stuck = Array.from({ length: 20 }, (_, i) => resolve(dead.server, `slow-${i}.test`));
  let over = false;
  const outcomes = Promise.allSettled(stuck).finally(() => (over = true));
  await expect.poll(() => new Set(dead.questions).size).toBe(40);
  expect((await lookup('localhost')).address).toMatch(/^(127\.0\.0\.1|::1)$/);
  expect(await resolve(dead.server, 'localhost')).not.toEqual([]);
  expect(over).toBe(false);
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
    new Promise<NodeJS.ErrnoException | null>((done) => {
      resolver(
        name,
        (error) => {
          answered.push(tenantId);
          done(error);
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
  const told = (await Promise.all(attacker)).filter(isEgressRefused);
  expect(told).toHaveLength(40 - 17);
  const limit = { name: 'maxSystemLookupsWaiting', value: 16, used: 17 };
  for (const [i, error] of told.entries())
    expect(error).toMatchObject({ message: expect.stringContaining(`nowhere-${i + 17} was not looked up`), limit });
});
