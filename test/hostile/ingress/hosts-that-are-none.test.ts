// ingress: Host headers and request targets that no URL can be made of, none at all, and expectations nobody can meet.
import { expect, it } from 'vitest';
import { exchange } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const HOSTS = ['a b', '[', '[::1', '[::1%25eth0]', '::1', 'x/y', 'x?y', 'x#y', '%', 'x:99999', 'user@x', 'ü'];
const TARGETS = ['*', 'ftp://x/v1/sources', 'http://', 'http://%zz/', 'https://x:99999/v1/sources', '/v1/sources\\'];

it('each is answered with a problem that says so, and HTTP/1.0 without a host is served', async () => {
  const { server } = world;
  const problemOf = async (head: string) => {
    const { text } = await exchange(server, Buffer.from(`${head}\r\nconnection: close\r\n\r\n`, 'latin1'));
    const [headers = '', body = ''] = text.split('\r\n\r\n');
    expect(headers).toMatch(/content-type: application\/problem\+json/i);
    return JSON.parse(/\{.*\}/s.exec(body)?.[0] ?? '') as { status: number; detail: string };
  };
  await world.unharmed(async () => {
    for (const host of HOSTS) {
      const problem = await problemOf(`GET /v1/sources HTTP/1.1\r\nhost: ${host}`);
      expect([host, problem]).toMatchObject([host, { status: 400, detail: expect.stringContaining('host header') }]);
    }
    for (const target of TARGETS) {
      const problem = await problemOf(`GET ${target} HTTP/1.1\r\nhost: x`);
      expect([target, problem]).toMatchObject([target, { status: 400, detail: expect.stringContaining('target') }]);
    }
    expect(await problemOf('GET /v1/sources HTTP/1.1\r\nx: y')).toMatchObject({
      status: 400,
      detail: 'The host header is missing',
    });
    expect(await problemOf('GET / HTTP/1.1\r\nhost: x\r\nexpect: wonders')).toMatchObject({ status: 417 });
    expect((await exchange(server, 'GET /healthz HTTP/1.0\r\n\r\n')).statuses).toEqual([200]);
  });
});
