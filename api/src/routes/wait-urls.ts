import { isUtf8 } from 'node:buffer';
import { z } from '@hono/zod-openapi';
import { createLimiter, ERRORS, HeadwaterError, inTurn, isJson, isStorableText, LIMITS } from '@headwater/shared';
import { announcedBytes } from '../account-turns.ts';
import { answerPrefetch } from '../answer-prefetch.ts';
import type { App, AppOptions } from '../app-options.ts';
import type { ApiContext } from '../environment.ts';
import { htmlPage, PAGE_HEADERS } from '../html-page.ts';
import { eventBody } from '../ingest/event-body.ts';
import { describeProblem } from '../openapi/problems.ts';
import { bodyTooLarge, readBodyBytes } from '../parameters/read-body.ts';

/** Patterns of the paths below. */
export const WAIT_URL_METHODS: [pattern: string, methods: string[]][] = [
  ['^/(resume|cancel)/[^/]+/[^/]+$', ['GET', 'POST']],
];

const GONE = 'This execution does not wait for this link any more, or never did.';

/**
 * The URLs that steps hand to others: `$.flow.suspend()` and `delay()` answer them. There is no
 * key: the token proves that the step has given it away. GET does what POST does, as links in
 * e-mails need it to.
 */
export function mountWaitUrls(
  app: App,
  { engine, turns, unfinished }: Required<Pick<AppOptions, 'engine' | 'turns' | 'unfinished'>>,
): void {
  const checks = createLimiter(LIMITS.maxBodyChecksPerTenant);
  app.on(['GET', 'POST'], '/resume/:id/:token', (c) =>
    serve(c, 'resume', 'The workflow goes on', async (id, token) => {
      const announced = announcedBytes({ headers: c.req.header() });
      if ((announced ?? 0) > LIMITS.maxHttpBodyBytes) throw bodyTooLarge(LIMITS.maxHttpBodyBytes);
      // Nothing is read for a link that is no longer good, also where another request was first
      // meanwhile.
      const accountId = await engine.executions.waitingFor(id, token);
      if (accountId === undefined) return false;
      await engine.accounts.requireActive(accountId);
      const turn = turns.take(accountId, announced);
      if (turn !== undefined) {
        await turn;
        if ((await engine.executions.waitingFor(id, token)) === undefined) return false;
      }
      const { incoming } = c.env;
      const held = unfinished.begin(accountId, announced, () => incoming?.destroy());
      // Checked in turns, because the client that resumes chooses the body.
      const checkJson = (text: string) => inTurn(checks, accountId, c.req.raw.signal, () => isJson(text));
      const read = async () => {
        if (incoming === undefined) return Buffer.alloc(0);
        const bytes = await readBodyBytes(incoming, LIMITS.maxHttpBodyBytes, held?.add);
        if (announced === undefined) turns.count(accountId, bytes.length);
        return bytes;
      };
      const data = await resumeData(c, read, checkJson).finally(held?.end);
      return data !== undefined && engine.executions.resume(id, token, data);
    }),
  );
  app.on(['GET', 'POST'], '/cancel/:id/:token', (c) =>
    serve(c, 'cancel', 'The execution is cancelled', (id, token) => engine.executions.cancelByToken(id, token)),
  );
}

async function serve(
  c: ApiContext,
  action: 'resume' | 'cancel',
  done: string,
  act: (id: string, token: string) => Promise<boolean>,
): Promise<Response> {
  c.set('route', `/${action}/{id}/{token}`);
  const look = answerPrefetch(c);
  if (look !== undefined) return look;
  const [id = '', token = ''] = [c.req.param('id'), c.req.param('token')];
  const isLink = id.length <= LIMITS.maxIdChars && token.length <= LIMITS.maxIdChars && isStorableText(id);
  const isDone = isLink && (await act(id, token));
  const wantsPage = c.req.header('accept')?.includes('text/html') === true;
  if (!wantsPage) {
    if (!isDone) throw new HeadwaterError('NOT_FOUND', GONE);
    return c.json({ status: action === 'resume' ? 'resumed' : 'cancelled' }, 200, PAGE_HEADERS);
  }
  const page = isDone ? htmlPage(done, ['You can close this page.']) : htmlPage('Nothing to do', [GONE]);
  return c.body(page, isDone ? 200 : 404, { ...PAGE_HEADERS, 'content-type': 'text/html; charset=utf-8' });
}

/**
 * JSON text of the resume data. A JSON body is used as it is, with any content type (`curl -d`
 * announces a form). Another body is converted as for an event; without a body, the link's
 * parameters are used. Undefined if the client has gone.
 */
async function resumeData(
  c: ApiContext,
  read: () => Promise<Buffer>,
  checkJson: (text: string) => Promise<boolean | undefined>,
): Promise<string | undefined> {
  const bytes = await read();
  if (bytes.length === 0) {
    const query = c.req.query();
    return Object.keys(query).length === 0 ? 'null' : JSON.stringify(query);
  }
  const text = new TextDecoder().decode(bytes);
  const isJsonText = isUtf8(bytes) && (await checkJson(text));
  if (isJsonText === undefined) return undefined;
  return isJsonText ? text : (await eventBody(c.req.header(), bytes)).bodyJson;
}

export function registerWaitUrls(registry: App['openAPIRegistry']): void {
  const params = z.object({
    id: z.string().describe('The id of the execution.'),
    token: z.string().describe('The unguessable part of the URL.'),
  });
  const answers = {
    200: { description: 'Done. A page for browsers, else `{ "status": … }`.' },
    404: describeProblem(GONE, ['NOT_FOUND']),
    503: { description: 'A browser asked beforehand, with `sec-purpose: prefetch`: nothing is done.' },
  };
  for (const method of ['get', 'post'] as const) {
    registry.registerPath({
      method,
      path: '/resume/{id}/{token}',
      operationId: `${method}ResumeUrl`,
      tags: ['Executions'],
      summary: 'Resume an execution that waits',
      description: `The \`resume_url\` of a step. The body, or without one the query, becomes \`$resume_data\` among the step's exports: JSON where it is JSON, an object for a form (urlencoded or multipart), else text; at most ${LIMITS.maxHttpBodyBytes} bytes.`,
      security: [],
      request: { params },
      responses: {
        ...answers,
        413: describeProblem(`The body is larger than ${LIMITS.maxHttpBodyBytes} bytes`, ['PAYLOAD_TOO_LARGE']),
        415: describeProblem(ERRORS.UNSUPPORTED_ENCODING.title, ['UNSUPPORTED_ENCODING']),
        429: describeProblem(ERRORS.RATE_LIMITED.title, ['RATE_LIMITED']),
        403: describeProblem(ERRORS.ACCOUNT_SUSPENDED.title, ['ACCOUNT_SUSPENDED']),
      },
    });
    registry.registerPath({
      method,
      path: '/cancel/{id}/{token}',
      operationId: `${method}CancelUrl`,
      tags: ['Executions'],
      summary: 'Cancel an execution that waits',
      description: 'The `cancel_url` of a step.',
      security: [],
      request: { params },
      responses: answers,
    });
  }
}
