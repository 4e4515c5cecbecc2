/**
 * A webhook receiver on this machine: prints every delivery, and refuses those whose signature is
 * wrong.
 *
 *   node examples/receiver.mjs <signing secret, whsec_…> [port, default 4000]
 *
 * Headwater reaches it only if egress to loopback is allowed:
 *
 *   HEADWATER_EGRESS_ALLOW=127.0.0.0/8 npm start
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const MAX_AGE_SECONDS = 300;

const [secret = '', port = '4000'] = process.argv.slice(2);
if (!secret.startsWith('whsec_')) {
  console.error('usage: node examples/receiver.mjs <signing secret, whsec_…> [port]');
  process.exit(2);
}

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  // The bytes as they came: JSON that was parsed and written again may differ, and its signature
  // with it.
  const body = Buffer.concat(chunks);
  const verified = isSigned(request.headers, body, secret);
  response.writeHead(verified ? 204 : 401).end();
  const id = request.headers['webhook-id'] ?? 'no id';
  console.log(`${verified ? 'verified' : 'REFUSED '}  ${id}\n${body}`);
}).listen(Number(port), '127.0.0.1', () => console.log(`Waiting for deliveries on http://127.0.0.1:${port}/`));

/**
 * Standard Webhooks: HMAC-SHA256 over `<id>.<timestamp>.<body>`, base64, one `v1,…` for each key in
 * use.
 */
function isSigned(headers, body, signingSecret) {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  // Old deliveries are refused, so that one that was overheard cannot be sent again later.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= MAX_AGE_SECONDS)) return false;
  const key = Buffer.from(signingSecret.slice('whsec_'.length), 'base64');
  const expected = Buffer.from(
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
  );
  return String(headers['webhook-signature'] ?? '')
    .split(' ')
    .map((signature) => Buffer.from(signature))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
