// ingress: Host headers and targets of thousands of percent-encoded letters, to make host names of them takes 10 ms each.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange } from '../../support/hostile-ingress.ts';

const world = hostile();

const LETTERS = Array.from({ length: 3_300 }, (_, at) => encodeURIComponent(String.fromCodePoint(0x4e00 + at))).join(
  '',
);
const ROUNDS = 40;
const HEADS = [
  `GET /healthz HTTP/1.1\r\nhost: ${LETTERS}`,
  `GET /healthz HTTP/1.0\r\nhost: ${LETTERS}`,
  `GET /v1/sources HTTP/1.1\r\nhost: user@${LETTERS}:80`,
  `GET http://${LETTERS}/healthz HTTP/1.1\r\nhost: x`,
  `GET https://user@${LETTERS}/healthz HTTP/1.1\r\nhost: x`,
  // The rest of the host, and all of it, by the target.
  `GET *${LETTERS} HTTP/1.1\r\nhost: x~`,
  `GET /${LETTERS} HTTP/1.1\r\nhost: /`,
  `GET /${LETTERS} HTTP/1.1\r\nhost: \\\t/`,
];

it('each is refused before a URL is made of it, long paths are not, and the server goes on', async () => {
  const { server } = world;
  await world.unharmed(async () => {
    for (const head of HEADS) {
      const { text } = await exchange(server, `${head}\r\nconnection: close\r\n\r\n`);
      const title = head.replace(LETTERS, '…');
      expect([title, text]).toEqual([title, expect.stringMatching(/^HTTP\/1\.1 400 /)]);
      expect([title, text]).toEqual([title, expect.stringContaining('longer than 512 characters')]);
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const answers = await Promise.all(
        HEADS.map((head) => exchange(server, `${head}\r\nconnection: close\r\n\r\n`, { timeoutMs: 30_000 })),
      );
      expect(answers.flatMap(({ statuses }) => statuses)).toEqual(HEADS.map(() => 400));
    }
    for (const head of [
      `GET /healthz?${LETTERS} HTTP/1.1\r\nhost: ${'x'.repeat(512)}`,
      `GET /healthz?${LETTERS} HTTP/1.0`,
      `GET /healthz?${LETTERS} HTTP/1.1\r\nhost: `,
      `GET http://x/healthz?${LETTERS} HTTP/1.1\r\nhost: x`,
    ]) {
      const { statuses } = await exchange(server, `${head}\r\nconnection: close\r\n\r\n`);
      expect([head.replace(LETTERS, '…'), statuses]).toEqual([head.replace(LETTERS, '…'), [200]]);
    }
    // No URL is made of the address of an endpoint.
    const { statuses } = await exchange(server, `GET /e/x HTTP/1.1\r\nhost: ${LETTERS}\r\nconnection: close\r\n\r\n`);
    expect(statuses).toEqual([404]);
  });
});
