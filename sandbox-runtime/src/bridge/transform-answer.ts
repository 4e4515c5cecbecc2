/** A transform's changes of a request. Absent fields stay as they were. */
export interface TransformAnswer {
  /** The request is not sent, for this reason; it may be empty. */
  drop?: string;
  method?: string;
  path?: string;
  /** Set in this order; null removes one. */
  headers: readonly (readonly [name: string, value: string | null])[];
  body?: string;
}

/** The characters of method, path, headers and reason, as JSON. The body has its own bounds. */
export const MAX_TRANSFORM_HEAD_CHARS = 65_536;

/**
 * The text is the length of a head, a colon, the head as JSON, and the body as it is sent: so the
 * node parses little, however large the body is. Undefined for anything else: it comes from the
 * sandbox.
 */
export function readTransformAnswer(text: string): TransformAnswer | undefined {
  const colon = text.indexOf(':');
  const chars = colon > 0 && colon <= 6 ? Number(text.slice(0, colon)) : Number.NaN;
  if (!Number.isInteger(chars) || chars < 0 || chars > MAX_TRANSFORM_HEAD_CHARS) return undefined;
  const start = colon + 1;
  const head = parseHead(text.slice(start, start + chars));
  if (head === undefined) return undefined;
  const { hasBody, ...answer } = head;
  return hasBody ? { ...answer, body: text.slice(start + chars) } : answer;
}

type Head = Omit<TransformAnswer, 'body'> & { hasBody: boolean };

function parseHead(json: string): Head | undefined {
  let head: unknown;
  try {
    head = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (typeof head !== 'object' || head === null) return undefined;
  const { drop, method, path, headers = [], hasBody = false } = head as Record<string, unknown>;
  if (![drop, method, path].every(isTextOrAbsent)) return undefined;
  if (!Array.isArray(headers) || !headers.every(isHeader) || typeof hasBody !== 'boolean') return undefined;
  return {
    ...(drop === undefined ? {} : { drop: drop as string }),
    ...(method === undefined ? {} : { method: method as string }),
    ...(path === undefined ? {} : { path: path as string }),
    headers,
    hasBody,
  };
}

const isTextOrAbsent = (value: unknown) => value === undefined || typeof value === 'string';

function isHeader(pair: unknown): pair is [string, string | null] {
  if (!Array.isArray(pair) || pair.length !== 2) return false;
  const [name, value] = pair as unknown[];
  return typeof name === 'string' && (value === null || typeof value === 'string');
}
