import got from 'got';
import FormData from 'form-data@4.0.0';
import { Readable } from 'node:stream';

export const checks = {
  async json(base) {
    const answer = got.post(`${base}/json`, { json: { b: [2] }, searchParams: { a: '1' } });
    equal(await answer.json(), { method: 'POST', query: { a: '1' }, body: { b: [2] } });
  },
  async form(base) {
    equal(await got.post(`${base}/form`, { form: { a: '1', b: 'ä&=' } }).json(), { a: '1', b: 'ä&=' });
  },
  async multipart(base) {
    const form = new FormData();
    form.append('title', 'hello');
    form.append('file', Buffer.from(pattern(70_000)), { filename: 'data.bin', contentType: 'application/x-test' });
    const data = await got.post(`${base}/multipart`, { body: form, headers: form.getHeaders() }).json();
    equal(data, {
      title: 'hello',
      file: { name: 'data.bin', type: 'application/x-test', bytes: 70_000, isPattern: true },
    });
  },
  async download(base) {
    equal(await readPattern(got.stream(`${base}/download?bytes=${STREAM_BYTES}`)), STREAMED);
  },
  async upload(base) {
    const body = Readable.from([Buffer.from(pattern(100_000)), Buffer.from(pattern(200_000, 100_000))]);
    equal(await got.post(`${base}/upload`, { body }).json(), { bytes: STREAM_BYTES, isPattern: true });
  },
  async gzip(base) {
    const data = await got(`${base}/gzip`).json();
    equal(data.text.length, 50_000);
  },
  async redirect(base) {
    const answer = await got(`${base}/redirect`, { responseType: 'json' });
    equal([answer.url, answer.redirectUrls.length, answer.body.method], [`${base}/json`, 1, 'GET']);
    const stopped = await got(`${base}/redirect`, { followRedirect: false });
    equal([stopped.statusCode, stopped.headers.location], [302, '/json']);
  },
  async error(base) {
    const error = await failureOf(got(`${base}/error`, { retry: { limit: 0 }, responseType: 'json' }));
    equal([error.name, error.response.statusCode, error.response.body], ['HTTPError', 422, { reason: 'refused' }]);
    const refused = await failureOf(got('http://127.0.0.1:1/', { retry: { limit: 0 } }));
    equal(refused.name, 'RequestError');
  },
  async retry(base) {
    equal(await got(`${base}/flaky`, { retry: { limit: 2, calculateDelay: () => 1 } }).json(), { attempt: 2 });
  },
  async timeout(base) {
    const error = await failureOf(got(`${base}/never`, { timeout: { request: TIMEOUT_MS }, retry: { limit: 0 } }));
    equal([error.name, error.code], ['TimeoutError', 'ETIMEDOUT']);
  },
  async abort(base) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ABORT_MS);
    const error = await failureOf(got(`${base}/never`, { signal: controller.signal, retry: { limit: 0 } }));
    equal(error.name, 'AbortError');
  },
};
