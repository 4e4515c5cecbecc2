import type { Engine } from '@headwater/engine';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import type { Endpoint } from './endpoint.ts';
import type { ApiContext } from './environment.ts';
import { requireKey } from './middleware/authenticate.ts';

/** The parameter of streams that a browser's EventSource sends instead of the header. */
export const STREAM_TOKEN = 'token';

const WRONG = 'The token is unknown, has expired or is for another stream; POST /v1/streams/token makes another one';

/** The key of a request; that of its token where a stream is opened without the header. */
export function keyOfRequest(c: ApiContext, endpoint: Pick<Endpoint, 'takesStreamToken'>, engine: Engine): string {
  const header = c.req.header('authorization');
  const token = c.req.query(STREAM_TOKEN);
  if (endpoint.takesStreamToken !== true || header !== undefined || token === undefined) return requireKey(header);
  const isToken = token.length <= LIMITS.maxStreamTokenChars;
  const key = isToken ? engine.sessions.streamKeyOf(token, c.req.param('id') ?? '') : undefined;
  if (key === undefined) throw new HeadwaterError('UNAUTHORIZED', WRONG);
  return key;
}
