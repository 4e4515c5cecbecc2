import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';

const clientOf = (base) =>
  new S3Client({
    endpoint: `${base}/s3`,
    region: 'eu-west-1',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: 'AKIA1', secretAccessKey: 'secret' },
  });
const place = (Key) => ({ Bucket: 'bucket', Key });

export const checks = {
  async 'upload and download'(base) {
    const client = clientOf(base);
    await client.send(new PutObjectCommand({ ...place('data.bin'), Body: Buffer.from(pattern(STREAM_BYTES)) }));
    const { Body, ContentLength } = await client.send(new GetObjectCommand(place('data.bin')));
    equal(ContentLength, STREAM_BYTES);
    equal(await readPattern(Body), STREAMED);
  },
  async upload(base) {
    const Body = Readable.from([Buffer.from(pattern(100_000)), Buffer.from(pattern(200_000, 100_000))]);
    const client = clientOf(base);
    await client.send(new PutObjectCommand({ ...place('streamed.bin'), Body, ContentLength: STREAM_BYTES }));
    const { Body: stored } = await client.send(new GetObjectCommand(place('streamed.bin')));
    equal((await stored.transformToByteArray()).length, STREAM_BYTES);
  },
  async xml(base) {
    const { Contents, KeyCount } = await clientOf(base).send(
      new ListObjectsV2Command({ Bucket: 'bucket', Prefix: 'listed/' }),
    );
    equal(
      [KeyCount, Contents.map(({ Key, Size }) => [Key, Size])],
      [
        2,
        [
          ['listed/a & b', 1],
          ['listed/c', 22],
        ],
      ],
    );
  },
  async error(base) {
    const error = await failureOf(clientOf(base).send(new GetObjectCommand(place('missing'))));
    equal([error.name, error.$metadata.httpStatusCode], ['NoSuchKey', 404]);
  },
  async abort(base) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), ABORT_MS);
    const request = new GetObjectCommand(place('never'));
    const error = await failureOf(clientOf(base).send(request, { abortSignal: controller.signal }));
    equal(error.name, 'AbortError');
  },
};
