import type { FetchRequest } from '@headwater/sandbox-runtime';
import type { ExceededLimit } from '@headwater/shared';
import type { GuestFetchOutcome } from '../../../egress/index.ts';
import { storableText } from '../../../events/index.ts';

/** S3 settings of an account, with the secret opened. */
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
export type FetchOnce = (request: FetchRequest) => Promise<GuestFetchOutcome>;

export type PutOutcome = { ok: true; statusCode: number } | NotPutOutcome;

interface NotPutOutcome {
  ok: false;
  message: string;
  /** As in SendOutcome. */
  plain?: string;
  statusCode?: number;
  limit?: ExceededLimit;
}

/**
 * Puts one object. The library is loaded with the first. Everything that it would otherwise take
 * from the environment or from files of this machine is set here: they are the operator's, and the
 * request a tenant's.
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
    if (error instanceof NotPut) return error.outcome;
    // The library's message describes its internals.
    const message = 'The request to the S3 server could not be made';
    return { ok: false, message, plain: message };
  } finally {
    client.destroy();
  }
}

/** Thrown through the library, which is to see nothing of such an answer. */
class NotPut extends Error {
  readonly outcome: NotPutOutcome;

  constructor(outcome: NotPutOutcome) {
    super(outcome.message);
    this.outcome = outcome;
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

/**
 * The library gets only the status of an answer. Its parser rereads the document for each item that
 * it does not know: 64 KB of `<!DOCTYPE>` blocked the thread for more than a second.
 */
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
      if (!outcome.ok) throw new NotPut(outcome);
      const { status: statusCode, body } = outcome;
      if (statusCode >= 300) throw new NotPut(refusedWith(statusCode, body));
      return { response: { statusCode, headers: {}, body: new Uint8Array() } };
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

/** Bytes read of an error's XML; the important elements come first. */
const MAX_READ_BYTES = 4 * 1024;
const MAX_MESSAGE_CHARS = 300;

/**
 * Includes the server's own message, if it has one: `NoSuchBucket: The specified bucket does not
 * exist`.
 */
function refusedWith(statusCode: number, body: Uint8Array): NotPutOutcome {
  const xml = new TextDecoder().decode(body.subarray(0, MAX_READ_BYTES));
  const words = ['Code', 'Message'].map((name) => textOf(xml, name)).filter((text) => text !== '');
  // Text that jsonb rejects would cost the texts of all attempts recorded together, those of other
  // accounts too.
  const said = storableText(words.join(': ').slice(0, MAX_MESSAGE_CHARS).toWellFormed());
  const plain = `The S3 server answered with the status ${statusCode}`;
  return { ok: false, message: said === '' ? plain : `${plain} (${said})`, plain, statusCode };
}

/** Text at the start of the first element with this name, up to the next markup. */
function textOf(xml: string, name: string): string {
  const tag = `<${name}>`;
  const at = xml.indexOf(tag);
  if (at === -1) return '';
  const from = at + tag.length;
  const end = xml.indexOf('<', from);
  return xml
    .slice(from, end === -1 ? xml.length : end)
    .replaceAll(REFERENCE, characterOf)
    .trim();
}

const REFERENCE = /&(?:#x([\da-f]{1,8})|#(\d{1,8})|(lt|gt|amp|quot|apos));/gi;
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const MAX_CODE_POINT = 0x10ffff;

function characterOf(reference: string, hex?: string, decimal?: string, named?: string): string {
  if (named !== undefined) return NAMED[named] ?? reference;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code > MAX_CODE_POINT ? '\uFFFD' : String.fromCodePoint(code);
}
