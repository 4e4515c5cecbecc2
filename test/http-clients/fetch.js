export const checks = {
  async json(base) {
    const answer = await fetch(`${base}/json?a=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ b: [2] }),
    });
    equal([answer.status, answer.ok, answer.headers.get('x-answer')], [200, true, 'yes']);
    equal(await answer.json(), { method: 'POST', query: { a: '1' }, body: { b: [2] } });
  },
  async form(base) {
    const body = new URLSearchParams({ a: '1', b: 'ä&=' });
    equal(await (await fetch(`${base}/form`, { method: 'POST', body })).json(), { a: '1', b: 'ä&=' });
  },
  async multipart(base) {
    const body = new FormData();
    body.append('title', 'hello');
    body.append('file', new Blob([pattern(70_000)], { type: 'application/x-test' }), 'data.bin');
    const data = await (await fetch(`${base}/multipart`, { method: 'POST', body })).json();
    equal(data, {
      title: 'hello',
      file: { name: 'data.bin', type: 'application/x-test', bytes: 70_000, isPattern: true },
    });
  },
  async download(base) {
    const { body } = await fetch(`${base}/download?bytes=${STREAM_BYTES}`);
    equal(await readPattern(body), STREAMED);
  },
  async upload(base) {
    const chunks = [pattern(100_000), pattern(200_000, 100_000)];
    const body = new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const answer = await fetch(`${base}/upload`, { method: 'POST', body, duplex: 'half' });
    equal(await answer.json(), { bytes: STREAM_BYTES, isPattern: true });
  },
  async gzip(base) {
    const { text } = await (await fetch(`${base}/gzip`)).json();
    equal(text.length, 50_000);
  },
  async redirect(base) {
    const answer = await fetch(`${base}/redirect`);
    equal([answer.url, answer.redirected, (await answer.json()).method], [`${base}/json`, true, 'GET']);
    await failureOf(fetch(`${base}/redirect`, { redirect: 'error' }));
    const body = JSON.stringify({ kept: true });
    const headers = { 'content-type': 'application/json' };
    const kept = await (await fetch(`${base}/redirect-keeping`, { method: 'POST', body, headers })).json();
    equal([kept.method, kept.body], ['POST', { kept: true }]);
  },
  async error(base) {
    const answer = await fetch(`${base}/error`);
    equal([answer.status, answer.ok, await answer.json()], [422, false, { reason: 'refused' }]);
    const refused = await failureOf(fetch('http://127.0.0.1:1/'));
    equal(refused instanceof TypeError, true);
  },
  async timeout(base) {
    const error = await failureOf(fetch(`${base}/never`, { signal: AbortSignal.timeout(TIMEOUT_MS) }));
    equal(error.name, 'TimeoutError');
  },
  async abort(base) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ABORT_MS);
    const error = await failureOf(fetch(`${base}/never`, { signal: controller.signal }));
    equal(error.name, 'AbortError');
  },
};
