import { createHash, createHmac } from 'node:crypto';
import type { ReceivedRequest } from './receiver.ts';

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * Whether a received request has the correct AWS Signature Version 4 for its method, path, signed
 * headers and body under this secret. Computed independently from the received bytes.
 */
export function hasSignature(request: ReceivedRequest, secretAccessKey: string): boolean {
  const { authorization = '' } = request.headers;
  const match =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d+)\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/;
  const [, date = '', region = '', names = '', signature = ''] = match.exec(authorization) ?? [];
  const payloadHash = String(request.headers['x-amz-content-sha256']);
  const [path = '', query = ''] = request.url.split('?');
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const canonical = [
    request.method,
    path,
    [...new URLSearchParams(query)].map(([name, value]) => `${name}=${value}`).join('&'),
    headers.join(''),
    names,
    payloadHash,
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', String(request.headers['x-amz-date']), scope, sha256(canonical)].join('\n');
  const key = ['s3', 'aws4_request'].reduce<Buffer>(hmac, hmac(hmac(`AWS4${secretAccessKey}`, date), region));
  const isSigned = createHmac('sha256', key).update(toSign).digest('hex') === signature;
  return isSigned && payloadHash === sha256(request.bytes) && names.split(';').includes('host');
}
