import axios from 'axios';
import FormData from 'form-data@4.0.0';
import { Readable } from 'node:stream';

export const checks = {
  async json(base) {
    const { status, data, headers } = await axios.post(`${base}/json?a=1`, { b: [2] }, { params: { c: 'd e' } });
    equal(
      [status, headers['x-answer'], data],
      [200, 'yes', { method: 'POST', query: { a: '1', c: 'd e' }, body: { b: [2] } }],
    );
  },
  async form(base) {
    const { data } = await axios.post(`${base}/form`, new URLSearchParams({ a: '1', b: 'ä&=' }));
    equal(data, { a: '1', b: 'ä&=' });
  },
  async multipart(base) {
    const form = new FormData();
    form.append('title', 'hello');
    form.append('file', Buffer.from(pattern(70_000)), { filename: 'data.bin', contentType: 'application/x-test' });
    const { data } = await axios.post(`${base}/multipart`, form, { headers: form.getHeaders() });
    equal(data, {
      title: 'hello',
      file: { name: 'data.bin', type: 'application/x-test', bytes: 70_000, isPattern: true },
    });
  },
  async download(base) {
    const { data } = await axios.get(`${base}/download?bytes=${STREAM_BYTES}`, { responseType: 'stream' });
    equal(await readPattern(data), STREAMED);
  },
  async upload(base) {
    const chunks = [pattern(100_000), pattern(200_000, 100_000)];
    const { data } = await axios.post(`${base}/upload`, Readable.from(chunks.map((chunk) => Buffer.from(chunk))), {
      headers: { 'content-type': 'application/octet-stream' },
    });
    equal(data, { bytes: STREAM_BYTES, isPattern: true });
  },
  async gzip(base) {
    const { data } = await axios.get(`${base}/gzip`);
    equal(data.text.length, 50_000);
  },
  async redirect(base) {
    const { data } = await axios.get(`${base}/redirect`);
    equal(data.method, 'GET');
    const kept = await axios.post(`${base}/redirect-keeping`, { kept: true });
    equal([kept.data.method, kept.data.body], ['POST', { kept: true }]);
    const stopped = await axios.get(`${base}/redirect`, { maxRedirects: 0, validateStatus: null });
    equal([stopped.status, stopped.headers.location], [302, '/json']);
  },
  async error(base) {
    const error = await failureOf(axios.get(`${base}/error`));
    equal([axios.isAxiosError(error), error.response.status, error.response.data], [true, 422, { reason: 'refused' }]);
    const refused = await failureOf(axios.get('http://127.0.0.1:1/'));
    equal([axios.isAxiosError(refused), refused.response ?? null, typeof refused.code], [true, null, 'string']);
  },
  async timeout(base) {
    const error = await failureOf(axios.get(`${base}/never`, { timeout: TIMEOUT_MS }));
    equal(error.code, 'ECONNABORTED');
  },
  async abort(base) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ABORT_MS);
    const error = await failureOf(axios.get(`${base}/never`, { signal: controller.signal }));
    equal(axios.isCancel(error), true);
  },
};
