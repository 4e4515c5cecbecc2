import type { ApiContext } from '../environment.ts';

/** A cookie for the few requests of one sign-in. */
export interface FlowCookie {
  name: string;
  /** Below the public URL. */
  path: string;
  seconds: number;
  /** `Lax`: the browser comes back from another site. */
  sameSite: 'Lax' | 'Strict';
}

/** The value of `set-cookie`. Undefined: the browser forgets it. */
export function writeFlowCookie(publicUrl: string, cookie: FlowCookie, value: string | undefined): string {
  const { protocol, pathname } = new URL(publicUrl);
  const path = `${pathname.replace(/\/$/, '')}${cookie.path}`;
  const secure = protocol === 'https:';
  const maxAge = value === undefined ? 0 : cookie.seconds;
  const attributes = `Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=${cookie.sameSite}${secure ? '; Secure' : ''}`;
  return `${nameOf(cookie, secure)}=${value ?? ''}; ${attributes}`;
}

export function readFlowCookie(c: ApiContext, publicUrl: string, cookie: FlowCookie): string | undefined {
  // Without the prefix, a neighbouring host without https could have set it.
  const wanted = nameOf(cookie, new URL(publicUrl).protocol === 'https:');
  for (const part of (c.req.header('cookie') ?? '').split(';')) {
    const [name, value = ''] = part.trim().split('=', 2);
    if (name === wanted) return value;
  }
  return undefined;
}

const nameOf = ({ name }: FlowCookie, secure: boolean) => `${secure ? '__Secure-' : ''}${name}`;
