import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import { eventually } from '../support/eventually.ts';
import { rawRequest, startTestServer, type TestServer } from '../support/http-server.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.server.stop());

function send(path: string, contentType: string, body: string | Buffer) {
  return rawRequest(server.port, { method: 'POST', path, headers: { 'content-type': contentType }, body: [body] });
}

test('a body of the limit is taken, one byte more is a 413 that its sender can read', async () => {
  const exact = await send('/e/known1', 'text/plain', 'x'.repeat(LIMITS.maxHttpBodyBytes));
  expect(exact.status).toBe(200);
  const body = 'x'.repeat(LIMITS.maxHttpBodyBytes + 1);
  const chunked = await send('/e/known1', 'text/plain', body);
  expect([chunked.status, chunked.headers['content-type']]).toEqual([413, 'application/problem+json']);
  const headers = { 'content-length': String(body.length) };
  const announced = await rawRequest(server.port, { method: 'POST', path: '/e/known1', headers, body: [body] });
  expect(announced.status).toBe(413);
  const limit = { name: 'maxHttpBodyBytes', value: LIMITS.maxHttpBodyBytes, used: body.length };
  for (const refused of [chunked, announced]) expect(JSON.parse(refused.text)).toMatchObject({ limit });
  expect(server.accepted).toHaveLength(1);
});

test('a client that sends all of a body several times too large, and reads only then, still gets the answer', async () => {
  const body = Buffer.alloc(4 * 1024 * 1024, 'x');
  for (const headers of [`content-length: ${body.length}`, `content-length: ${body.length}\r\nconnection: close`]) {
    const socket = connect(server.port, '127.0.0.1');
    socket.pause();
    socket.write(`POST /e/known1 HTTP/1.1\r\nhost: h\r\n${headers}\r\n\r\n`);
    await new Promise<void>((resolve, reject) => {
      socket.write(body, (error) => (error ? reject(error) : resolve()));
    });
    const first = await new Promise<Buffer>((resolve, reject) => {
      socket.once('data', resolve).once('error', reject);
      socket.resume();
    });
    expect(first.toString()).toMatch(/^HTTP\/1\.1 413/);
    socket.destroy();
  }
});

test('a sender that never stops is cut off', async () => {
  const socket = connect(server.port, '127.0.0.1');
  const closed = new Promise<number>((resolve) => {
    let sent = 0;
    const chunk = Buffer.alloc(256 * 1024, 'x');
    const pump = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
      sent += chunk.length;
    };
    socket.on('drain', pump);
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(sent));
    socket.resume();
    socket.write(`POST /e/known1 HTTP/1.1\r\nhost: h\r\ncontent-length: ${2 ** 40}\r\n\r\n`);
    pump();
  });
  expect(await closed).toBeLessThan(LIMITS.maxDrainBytes * 3);
});

test('a client that waits for "100 Continue" is refused without sending a large body', async () => {
  const socket = connect(server.port, '127.0.0.1');
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    socket.on('data', (data) => (received += data.toString()));
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
    socket.write('POST /e/known1 HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 900000000\r\n\r\n');
  });
  expect(text.startsWith('HTTP/1.1 413')).toBe(true);
});

test('unknown endpoints are a 404 problem for any key and any size of the body', async () => {
  for (const path of ['/e/nobody', '/e/', '/e', '/e/%00', '/e/known%31', `/e/${'x'.repeat(3000)}`]) {
    const answer = await rawRequest(server.port, { method: 'POST', path, body: ['x'.repeat(600_000)] });
    expect([path.slice(0, 20), answer.status]).toEqual([path.slice(0, 20), 404]);
    expect(JSON.parse(answer.text)).toMatchObject({ status: 404, type: 'urn:headwater:error:not-found' });
  }
});

test('the connection goes on after a refusal', async () => {
  const socket = connect(server.port, '127.0.0.1');
  let received = '';
  socket.on('data', (data) => (received += data.toString()));
  socket.write(`POST /e/nobody HTTP/1.1\r\nhost: h\r\ncontent-length: 600000\r\n\r\n${'x'.repeat(600_000)}`);
  socket.write('GET /e/known1 HTTP/1.1\r\nhost: h\r\n\r\n');
  await eventually(() => received.match(/HTTP\/1\.1 \d+/g)?.length === 2);
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  socket.destroy();
});

test('a body that breaks off is never accepted', async () => {
  const socket = connect(server.port, '127.0.0.1');
  socket.write('POST /e/known1 HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\nhalf');
  await new Promise<void>((resolve) => void socket.end(resolve));
  socket.destroy();
  await rawRequest(server.port, { path: '/e/known1' });
  expect(server.accepted).toHaveLength(1);
});
