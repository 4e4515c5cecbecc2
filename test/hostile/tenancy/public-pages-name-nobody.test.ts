// tenancy: What is served without a key, searched for anything of the neighbour's.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { OWNED } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('figures, health and the API’s description are about the node, not about who uses it', async () => {
  const { neighbour, server } = world;
  const source = await neighbour.deploy(OWNED, { token: 'secret-of-the-neighbour' });
  const webhook = await neighbour.api('POST', '/webhooks', { url: 'https://receiver-of-the-neighbour.example/in' });
  await fetch(source.endpoint, { method: 'POST', body: 'body-of-the-neighbour' });
  const pages = await world.unharmed(() =>
    Promise.all(
      ['/metrics', '/healthz', '/openapi.json', '/', '/v1', '/e/', '/favicon.ico'].map((path) =>
        fetch(`${server.url}${path}`).then((answer) => answer.text()),
      ),
    ),
  );
  const text = pages.join('\n');
  expect(text).toContain('headwater_');
  const { id: webhookId, secret } = webhook.body.data as { id: string; secret: string };
  const key = new URL(source.endpoint).pathname.split('/').at(-1) ?? '';
  for (const own of [neighbour.id, neighbour.key, source.id, webhookId, secret, key, 'of-the-neighbour']) {
    expect(text).not.toContain(own);
  }
});
