import { auth, drive } from '@googleapis/drive';
import { Readable } from 'node:stream';

const clientOf = (base) => {
  const client = new auth.OAuth2();
  client.setCredentials({ access_token: 'ya29.1' });
  return drive({ version: 'v3', auth: client, rootUrl: `${base}/` });
};

export const checks = {
  async json(base) {
    const { status, data } = await clientOf(base).files.list({ pageSize: 2, q: "name = 'a'" });
    equal([status, data], [200, { files: [{ id: 'f1' }], q: "name = 'a'", authorization: 'Bearer ya29.1' }]);
  },
  async multipart(base) {
    const upload = {
      requestBody: { name: 'data.bin' },
      media: { mimeType: 'application/x-test', body: Readable.from([Buffer.from(pattern(70_000))]) },
    };
    const { data } = await clientOf(base).files.create(upload, { rootUrl: `${base}/` });
    equal(data, { type: 'multipart/related', isLongEnough: true, hasName: true });
  },
  async download(base) {
    const { data } = await clientOf(base).files.get({ fileId: 'f1', alt: 'media' }, { responseType: 'stream' });
    equal(await readPattern(data), STREAMED);
  },
  async error(base) {
    const error = await failureOf(clientOf(base).files.get({ fileId: 'missing' }, { retry: false }));
    equal([Number(error.code ?? error.status), error.response.status], [404, 404]);
  },
};
