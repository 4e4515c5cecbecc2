import { BASE_PATH } from '../../api/base-url.ts';
import { api } from '../../api/client.ts';
import { ConnectionError } from '../../api/problem.ts';
import { endpointOf, type Source } from '../sources/source-queries.ts';

/** A real request to the source's endpoint where the page may make one; otherwise a run by hand. */
export async function sendTestRequest(source: Source): Promise<void> {
  const endpoint = endpointOf(source);
  const body = { hello: 'world', sent_at: new Date().toISOString() };
  const path = endpoint === undefined ? undefined : samePageOrigin(endpoint);
  if (path === undefined) {
    const event = endpoint === undefined ? tick() : { method: 'POST', path: '/', query: {}, headers: {}, body };
    await api.post('/v1/sources/{id}/run', { path: { id: source.id }, body: { event } });
    return;
  }
  const response = await fetch(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    // An endpoint is open to the world: it gets nothing of the session.
    credentials: 'omit',
  }).catch((error: unknown) => {
    throw new ConnectionError(error);
  });
  if (!response.ok) throw new Error(`The endpoint answered ${response.status} ${response.statusText}`);
}

/**
 * To the millisecond: a source that drops ticks it has seen must not drop the second test within a
 * second.
 */
function tick(): { timestamp: number } {
  return { timestamp: Date.now() / 1000 };
}

/**
 * The content security policy allows requests to this origin alone; behind a proxy it may go by
 * another name.
 */
function samePageOrigin(endpoint: string): string | undefined {
  const { pathname } = new URL(endpoint);
  return pathname.startsWith(`${BASE_PATH}e/`) ? pathname : undefined;
}
