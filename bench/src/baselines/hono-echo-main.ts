import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

/**
 * The HTTP floor: the framework under the REST API, parsing a JSON body and sending it back, and
 * nothing else.
 */
const app = new Hono();
app.post('/echo', async (c) => c.json((await c.req.json()) as Record<string, unknown>));

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (address: AddressInfo) => {
  process.send?.({ port: address.port });
});
// The bench is gone, however it went.
process.on('disconnect', () => process.exit(0));
