import { setTimeout as sleep } from 'node:timers/promises';

export interface ApiCall {
  key: string;
  method: string;
  /** Below `/v1`. */
  path: string;
  body: unknown;
}

export type ApiData = Record<string, unknown>;

const TIMEOUT_MS = 20_000;
const RETRY_MS = 1_000;

/** Answers `data`. Throws for any status but 200. */
export async function callNode(nodeUrl: string, { key, method, path, body }: ApiCall): Promise<ApiData> {
  const answer = await fetch(`${nodeUrl}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return (JSON.parse(text) as { data: ApiData }).data;
}

/**
 * Asks the nodes in turn until one does it. A call whose answer was lost is made again: only for
 * calls of which a repetition changes nothing.
 */
export async function callAnyNode(
  nodeUrls: readonly string[],
  call: ApiCall,
  { tries, signal }: { tries: number; signal?: AbortSignal },
): Promise<ApiData> {
  for (let tried = 1; ; tried++) {
    try {
      return await callNode(nodeUrls[tried % nodeUrls.length] as string, call);
    } catch (error) {
      if (tried >= tries || signal?.aborted === true) throw error;
      await sleep(RETRY_MS);
    }
  }
}
