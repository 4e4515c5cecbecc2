import type { Headwater } from './headwater.ts';

export const PASSPHRASE = 'correct horse battery staple';

/** `query` begins with `?`. */
export async function exportAs(
  hw: Pick<Headwater, 'url'>,
  accountId: string,
  headers: Record<string, string> = {},
  query = '',
): Promise<Response> {
  return fetch(`${hw.url}/v1/accounts/${accountId}/export${query}`, {
    headers: { authorization: `Bearer hw_${'a'.repeat(32)}`, 'x-headwater-passphrase': PASSPHRASE, ...headers },
  });
}

export async function importAs(hw: Pick<Headwater, 'url'>, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${hw.url}/v1/accounts/import`, {
    method: 'POST',
    headers: {
      authorization: `Bearer hw_${'a'.repeat(32)}`,
      'content-type': 'application/x-ndjson',
      'x-headwater-passphrase': PASSPHRASE,
      ...headers,
    },
    body,
  });
  return { status: response.status, text: await response.text() };
}
