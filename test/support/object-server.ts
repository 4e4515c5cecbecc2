import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import S3rver from 's3rver';

export const S3_CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

export interface ObjectServer {
  /** `http://127.0.0.1:<port>` */
  url: string;
  /** Names of a bucket's objects, in their order. */
  keys(bucket: string): Promise<string[]>;
  /** The lines of an object, decompressed and parsed. */
  lines(bucket: string, key: string): Promise<unknown[]>;
  stop(): Promise<void>;
}

/**
 * An S3 server on loopback that knows one access key and the bucket `lines`; it does not check
 * signatures.
 */
export async function startObjectServer(): Promise<ObjectServer> {
  const directory = await mkdtemp(path.join(tmpdir(), 'headwater-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'lines', configs: [] }],
  });
  const { port } = await server.run();
  const url = `http://127.0.0.1:${port}`;
  const client = new S3Client({
    endpoint: url,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: S3_CREDENTIALS,
    maxAttempts: 1,
  });
  return {
    url,
    async keys(bucket) {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
      return Contents.map(({ Key = '' }) => Key);
    },
    async lines(bucket, key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      const text = gunzipSync((await Body?.transformToByteArray()) ?? new Uint8Array()).toString('utf8');
      return text
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line));
    },
    async stop() {
      client.destroy();
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
