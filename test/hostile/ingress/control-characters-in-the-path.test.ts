// ingress: NUL, line breaks and bytes above ASCII in the request line and in headers, raw and percent-encoded.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { exchange } from '../../support/hostile-ingress.ts';

const world = hostile();
const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;

it('raw ones are a 400; encoded ones are text, and split neither headers nor log lines', async () => {
  const { attacker, server } = world;
  const path = new URL((await attacker.deploy(BIN)).endpoint).pathname;
  const request = (target: string, header = 'x-a: b') =>
    `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${header}\r\n\r\n`;
  await world.unharmed(async () => {
    for (const byte of ['\0', '\n', '\r', '\x7f', '\x1b']) {
      for (const bytes of [
        request(`${path}/${byte}x`),
        request(path, `x-a: b${byte}c`),
        request(path, `x${byte}a: b`),
      ]) {
        const { statuses } = await exchange(server, bytes);
        // A bare line feed ends a header line for lenient readers: then the rest is a header
        // without a colon.
        expect([JSON.stringify(byte), statuses.filter((status) => status !== 400)]).toEqual([JSON.stringify(byte), []]);
      }
    }
    for (const code of ['%00', '%0d%0aset-cookie:%20a=b', '%ff', '%c0%ae%c0%ae%2f', '%u0000']) {
      const [event, api] = await Promise.all([
        exchange(server, request(`${path}/${code}`)),
        exchange(server, request(`/v1/sources/${code}`)),
      ]);
      expect([code, event.statuses, api.statuses]).toEqual([code, [200], [401]]);
      expect(event.text + api.text).not.toMatch(/^set-cookie/im);
    }
  });
});
