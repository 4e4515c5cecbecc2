import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from '@hono/zod-openapi';
import type { NewAuditEntry } from '@headwater/engine';
import { ERRORS, HeadwaterError, LIMITS, NDJSON_TYPE } from '@headwater/shared';
import { accountSummarySchema } from '@headwater/shared/contract';
import type { App, AppOptions } from '../app-options.ts';
import { auditedRequest } from '../audit.ts';
import type { ApiContext } from '../environment.ts';
import type { OpenExports } from '../export-lines.ts';
import { requireAdmin, requireKey } from '../middleware/authenticate.ts';
import { describeProblem } from '../openapi/problems.ts';
import { checkParameters, parameterKinds, readParameters } from '../parameters/read-parameters.ts';
import { findUnknownNames, unknownNameErrors } from '../parameters/unknown-names.ts';
import { presentAccountSummary } from '../resources/account.ts';

const EXPORT_PATH = '/v1/accounts/{id}/export';
export const IMPORT_PATH = '/v1/accounts/import';
/** In a header: addresses are in logs. */
const PASSPHRASE_HEADER = 'x-headwater-passphrase';

/** By the pattern of their paths. */
export const ARCHIVE_METHODS: readonly [string, string[]][] = [
  ['^/v1/accounts/import$', ['POST']],
  ['^/v1/accounts/[^/]+/export$', ['GET']],
];

/** An import that was refused because of another one may be sent again after this time. */
const RETRY_AFTER_SECONDS = 30;

type ArchiveOptions = Pick<AppOptions, 'engine' | 'adminKey' | 'clientFacts' | 'log'> & { exports: OpenExports };

/**
 * Accounts as archives, for the operator alone: an archive has every secret of a tenant, and
 * holds a snapshot of the database while it is read.
 */
export function mountArchives(app: App, options: ArchiveOptions): void {
  app.get('/v1/accounts/:id/export', (c: ApiContext) => sendArchive(c, options));
  // One at a time: each fills a temporary folder with up to maxArchiveBytes.
  let isImporting = false;
  app.post(IMPORT_PATH, async (c: ApiContext) => {
    await admit(c, IMPORT_PATH, options);
    refuseParameters(c);
    const passphrase = requirePassphrase(c);
    if (isImporting)
      throw new HeadwaterError(
        'RATE_LIMITED',
        'Another import is under way on this node. Send this one when it has ended.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    isImporting = true;
    try {
      return await takeArchive(c, options, passphrase);
    } finally {
      isImporting = false;
    }
  });
}

async function admit(c: ApiContext, route: string, { engine, adminKey }: ArchiveOptions): Promise<void> {
  c.set('route', route);
  await requireAdmin(engine, adminKey, requireKey(c.req.header('authorization')));
}

function requirePassphrase(c: ApiContext): string {
  const passphrase = c.req.header(PASSPHRASE_HEADER);
  if (passphrase !== undefined) return passphrase;
  throw new HeadwaterError('INVALID_REQUEST', `Send a passphrase for the secrets in the header ${PASSPHRASE_HEADER}`);
}

async function sendArchive(c: ApiContext, options: ArchiveOptions): Promise<Response> {
  const { engine, exports, log } = options;
  await admit(c, EXPORT_PATH, options);
  const id = c.req.param('id') ?? '';
  if (id.length > LIMITS.maxIdChars || id.includes('\0'))
    throw new HeadwaterError('NOT_FOUND', 'There is no account with that id');
  const headers = { 'content-type': NDJSON_TYPE, 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  if (c.req.raw.method === 'HEAD') {
    await engine.accounts.get(id);
    return c.body(null, 200, headers);
  }
  const { without_history: withoutHistory } = checkParameters(
    EXPORT_PARAMETERS,
    readParameters(c.req.raw, '', parameterKinds(EXPORT_PARAMETERS), 'ignored'),
  );
  const passphrase = requirePassphrase(c);
  const open = exports.open('');
  const pieces = engine.archives.export(id, passphrase, { withHistory: !withoutHistory });
  try {
    // The entry belongs to the account only once the export has begun: the archive must not have an
    // entry of itself.
    const first = await audited(
      c,
      options,
      { action: 'exportAccount', thing: id },
      () => pieces.next(),
      () => ({ accountId: id }),
    );
    const cutOff = () => c.env.outgoing?.destroy();
    const onError = (err: unknown) => log.error({ request_id: c.get('requestId'), err }, 'an export ended early');
    const body = streamPieces(first, pieces, { cutOff, onError, onEnd: open.close });
    return c.body(body, 200, { ...headers, 'content-disposition': `attachment; filename="${id}.ndjson"` });
  } catch (error) {
    await pieces.return(undefined);
    open.close();
    throw error;
  }
}

/** A client that takes nothing, or an archive that breaks, ends the connection before its time. */
function streamPieces(
  first: IteratorResult<Uint8Array, undefined>,
  rest: AsyncGenerator<Uint8Array, undefined>,
  on: { cutOff: () => void; onError: (error: unknown) => void; onEnd: () => void },
): ReadableStream<Uint8Array> {
  let next: Promise<IteratorResult<Uint8Array, undefined>> | undefined = Promise.resolve(first);
  let stall: NodeJS.Timeout | undefined;
  const end = () => {
    clearTimeout(stall);
    on.onEnd();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stall);
        try {
          const { done, value } = await (next ?? rest.next());
          next = undefined;
          if (done === true) {
            end();
            return controller.close();
          }
          controller.enqueue(value);
          stall = setTimeout(on.cutOff, LIMITS.clientStallMs).unref();
        } catch (error) {
          on.onError(error);
          end();
          on.cutOff();
        }
      },
      async cancel() {
        end();
        await rest.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

const EXPORT_PARAMETERS = z.object({
  without_history: z.boolean().default(false).openapi({
    description:
      'true: configuration, secrets and what components have stored. No events, runs, executions, deliveries, statistics or audit log, and nothing that waits.',
  }),
});
const NO_PARAMETERS = z.object({});

/** As every write refuses them. */
function refuseParameters(c: ApiContext): void {
  const query = c.req.query();
  checkParameters(NO_PARAMETERS, query, unknownNameErrors(findUnknownNames(NO_PARAMETERS, query), query, undefined));
}

async function takeArchive(c: ApiContext, options: ArchiveOptions, passphrase: string): Promise<Response> {
  const { engine } = options;
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== NDJSON_TYPE)
    throw new HeadwaterError('INVALID_REQUEST', `Send the archive of an account as ${NDJSON_TYPE}`);
  const folder = await mkdtemp(path.join(tmpdir(), 'headwater-import-'));
  try {
    const file = path.join(folder, 'archive.ndjson');
    await storeBody(c, file);
    const account = await audited(
      c,
      options,
      { action: 'importAccount', thing: IMPORT_PATH },
      async () => presentAccountSummary(await engine.accounts.get(await engine.archives.import(file, passphrase))),
      ({ id, name }) => ({ accountId: id, thing: id, after: { name } }),
    );
    return c.json({ data: account }, 200, { 'cache-control': 'no-store' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** It is checked whole before anything of it is stored in the database. */
async function storeBody(c: ApiContext, file: string): Promise<void> {
  const { incoming } = c.env;
  if (c.req.header('content-encoding') !== undefined)
    throw new HeadwaterError('UNSUPPORTED_ENCODING', 'The archive has a content-encoding; send it without one');
  let bytes = 0;
  const bound = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      done(bytes > LIMITS.maxArchiveBytes ? tooLarge(bytes) : null, chunk);
    },
  });
  const body = incoming ?? Readable.from(c.req.raw.body === null ? [] : c.req.raw.body);
  try {
    await pipeline(body, bound, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if (error instanceof HeadwaterError) throw error;
    if ((body as Partial<IncomingMessage>).complete === false)
      throw new HeadwaterError('INVALID_REQUEST', 'The archive ended before it was complete. Nothing was changed.');
    throw error;
  }
}

function tooLarge(used: number): HeadwaterError {
  const limit = { name: 'maxArchiveBytes' as const, value: LIMITS.maxArchiveBytes, used };
  return new HeadwaterError('PAYLOAD_TOO_LARGE', `The archive is larger than ${limit.value} bytes`, { limit });
}

function audited<T>(
  c: ApiContext,
  { engine, clientFacts }: ArchiveOptions,
  change: Pick<NewAuditEntry, 'action' | 'thing' | 'accountId'>,
  make: () => Promise<T>,
  made: (value: T) => Partial<NewAuditEntry> = () => ({}),
): Promise<T> {
  const entry = { ...change, actorId: 'operator', actorName: 'Operator', ...auditedRequest(c, clientFacts) };
  return engine.audit.change(entry, make, (value) => [{ ...entry, ...made(value) }]);
}

const HEADERS = z.object({
  [PASSPHRASE_HEADER]: z.string().openapi({
    description: 'Seals the secrets of the archive, and shows that nobody has changed it. 12 to 256 characters.',
    example: 'a passphrase that is kept apart',
  }),
});
const LINE = z.looseObject({}).openapi({ description: 'A line of the archive: its head, a row, a secret or its end.' });
const OPERATOR = 'Takes the key of the operator (`HEADWATER_ADMIN_KEY`), no other.';
const PROBLEMS = {
  400: describeProblem(ERRORS.INVALID_REQUEST.title, ['INVALID_REQUEST']),
  401: describeProblem(ERRORS.UNAUTHORIZED.title, ['UNAUTHORIZED']),
  403: describeProblem(ERRORS.FORBIDDEN.title, ['FORBIDDEN']),
  429: describeProblem(ERRORS.RATE_LIMITED.title, ['RATE_LIMITED']),
  500: describeProblem(ERRORS.INTERNAL.title, ['INTERNAL']),
};

export function registerArchives(registry: App['openAPIRegistry']): void {
  registry.registerPath({
    method: 'get',
    path: EXPORT_PATH,
    operationId: 'exportAccount',
    tags: ['Accounts'],
    summary: 'An account as an archive: its configuration, secrets and history',
    description: `${OPERATOR} NDJSON, as of one moment. Secrets in it are sealed with the passphrase; the rest is plain. Suspend the account first if it is to move: what it does after that moment is not in the archive.`,
    security: [{ adminKey: [] }],
    request: {
      params: z.object({ id: z.string().openapi({ description: 'The id of the account (`o_…`).' }) }),
      query: EXPORT_PARAMETERS,
      headers: HEADERS,
    },
    responses: {
      200: { description: 'The archive.', content: { [NDJSON_TYPE]: { schema: LINE } } },
      ...PROBLEMS,
      404: describeProblem(ERRORS.NOT_FOUND.title, ['NOT_FOUND']),
      409: describeProblem('The account is being deleted, or a secret of it cannot be opened', ['CONFLICT']),
    },
  });
  registry.registerPath({
    method: 'post',
    path: IMPORT_PATH,
    operationId: 'importAccount',
    tags: ['Accounts'],
    summary: 'Make an account from an archive',
    description: `${OPERATOR} All of it or nothing: an import that fails can be sent again. Ids, keys and endpoints stay what they were; people are invited anew. The account is suspended until you resume it. Takes an archive of the same version of Headwater.`,
    security: [{ adminKey: [] }],
    request: { headers: HEADERS, body: { content: { [NDJSON_TYPE]: { schema: LINE } } } },
    responses: {
      200: {
        description: 'The account.',
        content: { 'application/json': { schema: z.object({ data: accountSummarySchema }) } },
      },
      ...PROBLEMS,
      409: describeProblem('The account or one of its ids exists already, or it does not fit this server', [
        'CONFLICT',
      ]),
      413: describeProblem(ERRORS.PAYLOAD_TOO_LARGE.title, ['PAYLOAD_TOO_LARGE']),
      415: describeProblem(ERRORS.UNSUPPORTED_ENCODING.title, ['UNSUPPORTED_ENCODING']),
    },
  });
}
