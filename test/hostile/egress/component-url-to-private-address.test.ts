// egress: Component code from a URL inside, directly and by a redirect, to read what is there from the error.
import { expect, it } from 'vitest';
import { rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket, request) => {
  const target = decodeURIComponent(/^GET \/(\S*)/.exec(request)?.[1] ?? '');
  socket.end(response(`location: ${target}\r\ncontent-length: 0\r\n`, '', '302 Found'));
});

it('is refused', async () => {
  const inside = ['https://169.254.169.254/latest/', 'https://[::1]/a.mjs', `${world.server.url}/openapi.json`];
  const redirected = [...inside, 'file:///etc/passwd'].map((to) => `${server.url}/${encodeURIComponent(to)}`);
  await world.unharmed(async () => {
    for (const component_url of [...inside, ...redirected, 'file:///etc/passwd', 'http://example.com/a.mjs']) {
      const { status, body } = await world.attacker.api('POST', '/sources', { component_url });
      expect({ component_url, status, path: body.errors?.[0]?.path }).toEqual({
        component_url,
        status: 400,
        path: 'component_url',
      });
      expect(body.detail).toMatch(
        /not a public address|not reached from here|redirected to a file: URL|[mM]ust be an http/,
      );
    }
  });
});
