// ingress: Upgrades to WebSocket and h2c, CONNECT to make a proxy of the server, TRACE, and methods nobody knows.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange } from '../../support/hostile-ingress.ts';

const world = hostile();
/** Port on which another server of this machine might listen. */
const PORT = 5432;

it('the connection stays what it is: nothing is tunnelled, echoed or switched', async () => {
  const { server } = world;
  const rest = 'host: x\r\nconnection: close\r\n\r\n';
  const upgrade = (protocol: string) =>
    `GET /e/x HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: ${protocol}\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n`;
  const requests = [
    upgrade('websocket'),
    upgrade('h2c'),
    `CONNECT 127.0.0.1:${PORT} HTTP/1.1\r\n${rest}`,
    `CONNECT ${new URL(server.url).host} HTTP/1.1\r\n${rest}`,
    `TRACE /v1/sources HTTP/1.1\r\nx-secret: echoed\r\n${rest}`,
    `TRACK / HTTP/1.1\r\nx-secret: echoed\r\n${rest}`,
    `PROPFIND /v1/sources HTTP/1.1\r\n${rest}`,
    `GET http://169.254.169.254/latest/meta-data HTTP/1.1\r\n${rest}`,
  ];
  await world.unharmed(async () => {
    for (const request of requests) {
      const { statuses, text, closed } = await exchange(server, request);
      expect([request, closed]).toEqual([request, true]);
      expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([]);
      expect(text).not.toContain('echoed');
    }
  });
});
