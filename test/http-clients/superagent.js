import request from 'superagent';

export const checks = {
  async json(base) {
    const { status, body, headers } = await request
      .post(`${base}/json`)
      .query({ a: '1' })
      .send({ b: [2] });
    equal([status, headers['x-answer'], body], [200, 'yes', { method: 'POST', query: { a: '1' }, body: { b: [2] } }]);
  },
  async form(base) {
    const { body } = await request.post(`${base}/form`).type('form').send({ a: '1', b: 'ä&=' });
    equal(body, { a: '1', b: 'ä&=' });
  },
  async multipart(base) {
    const { body } = await request
      .post(`${base}/multipart`)
      .field('title', 'hello')
      .attach('file', Buffer.from(pattern(70_000)), { filename: 'data.bin', contentType: 'application/x-test' });
    equal(body, {
      title: 'hello',
      file: { name: 'data.bin', type: 'application/x-test', bytes: 70_000, isPattern: true },
    });
  },
  async download(base) {
    const chunks = [];
    const parse = (stream, done) => {
      stream.on('data', (chunk) => chunks.push(Buffer.from(chunk, 'binary')));
      stream.on('end', () => done(null, ''));
    };
    await request.get(`${base}/download?bytes=${STREAM_BYTES}`).buffer(true).parse(parse);
    equal(await readPattern(chunks), STREAMED);
  },
  async gzip(base) {
    const { body } = await request.get(`${base}/gzip`);
    equal(body.text.length, 50_000);
  },
  async redirect(base) {
    const { body, redirects } = await request.get(`${base}/redirect`);
    equal([body.method, redirects], ['GET', [`${base}/json`]]);
  },
  async error(base) {
    const error = await failureOf(request.get(`${base}/error`));
    equal([error.status, error.response.body], [422, { reason: 'refused' }]);
    const refused = await failureOf(request.get('http://127.0.0.1:1/'));
    equal(typeof refused.code, 'string');
  },
  async timeout(base) {
    const error = await failureOf(request.get(`${base}/never`).timeout({ deadline: TIMEOUT_MS }));
    equal([error.timeout, error.code], [TIMEOUT_MS, 'ECONNABORTED']);
  },
  async abort(base) {
    const pending = request.get(`${base}/never`);
    setTimeout(() => pending.abort(), ABORT_MS);
    equal((await failureOf(pending)).code, 'ABORTED');
  },
};
