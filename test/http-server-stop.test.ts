import { request } from 'node:http';
import { expect, test } from 'vitest';
import { type HttpServerOptions, startHttpServer } from '../api/src/http-server.ts';

/** As an answer that waits for a database which does not answer either. */
const neverAnswers = { fetch: () => new Promise<Response>(() => {}) } as unknown as HttpServerOptions['app'];

test('who waits when a stop runs out of time is told to come again, and not reset', async () => {
  const server = await startHttpServer({
    app: neverAnswers,
    isKnownKey: () => false,
    hasOthers: () => false,
    host: '127.0.0.1',
    port: 0,
  });
  const answer = new Promise<{ status: number | undefined; retryAfter: string | undefined; text: string }>(
    (resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: server.port, path: '/v1/sources' }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        const { statusCode: status, headers } = response;
        response.once('end', () => resolve({ status, retryAfter: headers['retry-after'], text }));
      });
      sent.once('error', reject);
      sent.end(() => setImmediate(() => void server.stop(100)));
    },
  );
  const { status, retryAfter, text } = await answer;
  expect([status, retryAfter]).toEqual([503, '1']);
  expect(JSON.parse(text)).toMatchObject({ status: 503, detail: expect.stringContaining('Send it again') });
  await server.stop();
});
