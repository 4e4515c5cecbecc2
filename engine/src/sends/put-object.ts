import { Readable } from 'node:stream';
import type { FetchOutcome, FetchRequest } from '@headwater/sandbox-runtime';
import type { ExceededLimit } from '@headwater/shared';
import { storableText } from '../events/storable-text.ts';

/** Where an account's objects go, opened. */
export interface S3Access {
  /** Absent: Amazon's of the region. */
  endpoint?: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export interface S3Object {
  bucket: string;
  key: string;
  body: Uint8Array;
}

/** Makes the request: through the egress guard, as the endpoint is the tenant's choice. */
export type FetchOnce = (request: FetchRequest) => Promise<FetchOutcome>;

export type PutOutcome =
  | { ok: true; statusCode: number }
  | { ok: false; message: string; statusCode?: number; limit?: ExceededLimit };

/**
 * Puts one object. The library is loaded with the first. Everything that it would otherwise take from the environment or
 * from files of this machine is set here: they are the operator's, and the request a tenant's.
 */
export async function putObject(access: S3Access, object: S3Object, fetchOnce: FetchOnce): Promise<PutOutcome> {
  const { S3Client, PutObjectCommand } = await import('@aws-sdk/client-s3');
  const { endpoint, region, accessKeyId, secretAccessKey } = access;
  const client = new S3Client({
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`,
    forcePathStyle: endpoint !== undefined,
    region,
    credentials: { accessKeyId, secretAccessKey },
    requestHandler: handlerOver(fetchOnce),
    maxAttempts: 1,
    retryMode: 'standard',
    defaultsMode: 'standard',
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    authSchemePreference: [],
    disableS3ExpressSessionAuth: true,
    useArnRegion: false,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    userAgentAppId: '',
  });
  try {
    const { bucket: Bucket, key: Key, body: Body } = object;
    const answer = await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'application/gzip' }));
    return { ok: true, statusCode: answer.$metadata.httpStatusCode ?? 200 };
  } catch (error) {
    return failed(error);
  } finally {
    client.destroy();
  }
}

class NotAnswered extends Error {
  readonly failure: Extract<FetchOutcome, { ok: false }>;

  constructor(failure: Extract<FetchOutcome, { ok: false }>) {
    super(failure.message);
    this.failure = failure;
  }
}

interface SignedRequest {
  method: string;
  protocol: string;
  hostname: string;
  port?: number | undefined;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: unknown;
}

function handlerOver(fetchOnce: FetchOnce) {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request: SignedRequest) {
      const outcome = await fetchOnce({
        url: urlOf(request),
        method: request.method,
        headers: Object.entries(request.headers),
        redirect: 'manual',
        ...(request.body instanceof Uint8Array ? { body: request.body } : {}),
      });
      if (!outcome.ok) throw new NotAnswered(outcome);
      const { status: statusCode, headers, body } = outcome;
      return { response: { statusCode, headers: Object.fromEntries(headers), body: Readable.from([body]) } };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    destroy: () => undefined,
  };
}

function urlOf({ protocol, hostname, port, path, query }: SignedRequest): string {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`);
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) url.searchParams.append(name, one);
  }
  return url.href;
}

const MAX_MESSAGE_CHARS = 300;

function failed(error: unknown): PutOutcome {
  if (error instanceof NotAnswered) return error.failure;
  const { name, message, $metadata } = error as {
    name?: string;
    message?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const statusCode = $metadata?.httpStatusCode;
  // Without a status it is no answer that could be read; what the library says of that is about its own insides.
  if (statusCode === undefined)
    return { ok: false, message: 'The S3 server answered with something that cannot be read' };
  // What jsonb refuses would take the texts of all attempts that are recorded with this one, other accounts' as well.
  const said = storableText(`${name ?? 'Error'}: ${message ?? ''}`.slice(0, MAX_MESSAGE_CHARS).toWellFormed());
  return { ok: false, message: `The S3 server answered with the status ${statusCode} (${said})`, statusCode };
}
