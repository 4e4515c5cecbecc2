interface Client {
  url: string;
  /** The key of the webhook's account. */
  apiKey: string;
  adminKey: string;
}

export interface Act {
  name: string;
  ms: number;
}

/** Times each request about a webhook with a backlog. The last request deletes the webhook. */
export async function measureActs({ url, apiKey, adminKey }: Client, webhookId: string): Promise<Act[]> {
  const acts: Act[] = [];
  const act = async (name: string, method: string, path: string, body?: object, key = apiKey) => {
    const beganMs = performance.now();
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
    acts.push({ name, ms: performance.now() - beganMs });
  };
  const webhook = `/v1/webhooks/${webhookId}`;
  await act('the webhook', 'GET', webhook);
  await act('its stats', 'GET', `${webhook}/stats`);
  await act('a page of what waits', 'GET', `${webhook}/deliveries?status=pending`);
  await act('/metrics', 'GET', '/metrics', undefined, adminKey);
  await act('retry', 'POST', `${webhook}/retry`, {});
  await act('retry, again', 'POST', `${webhook}/retry`, {});
  await act('stop', 'PUT', webhook, { active: false });
  await act('start', 'PUT', webhook, { active: true });
  await act('discard', 'POST', `${webhook}/discard`, {});
  await act('delete', 'DELETE', webhook);
  return acts;
}
