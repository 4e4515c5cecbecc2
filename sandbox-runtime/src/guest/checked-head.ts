import { MAX_HEAD_CHARS, MAX_TOKEN_CHARS } from '../protocol/head-bounds.ts';
import { stringifyOwn } from './intrinsics.ts';

interface Head {
  url?: string;
  method?: string;
  redirect?: string;
  status?: number;
  headers: readonly (readonly [string, string])[];
}

/** A head that the other side would refuse is an error at the author's line: refused there, it ends the whole process. */
export function checkedHead(head: Head): string {
  if ((head.method?.length ?? 0) > MAX_TOKEN_CHARS) throw new TypeError('The method of the request is too long');
  for (let index = 0; index < head.headers.length; index += 1) {
    const name = head.headers[index]?.[0] ?? '';
    if (name.length > MAX_TOKEN_CHARS)
      throw new TypeError(`The name of a header is ${name.length} characters long; the limit is ${MAX_TOKEN_CHARS}`);
  }
  const json = stringifyOwn(head);
  if (json.length > MAX_HEAD_CHARS)
    throw new TypeError(`The headers are ${json.length} characters as JSON; the limit is ${MAX_HEAD_CHARS}`);
  return json;
}
