import { randomToken } from '../../shared/src/index.ts';
import type { HostileWorld } from './hostile.ts';
import type { ApiAnswer } from './server.ts';

/** Prefix for keys: all attacks share the registry, and an attack runs more than once. */
export const uniquePrefix = () => `x${randomToken(10).toLowerCase()}`;

export const registryCode = (key: string, version: string, extra = '') =>
  `export default { name: 'Of ${key}', key: '${key}', version: '${version}', ${extra} run() {} };`;

type Who = HostileWorld['attacker'];

export async function saveCode(who: Who, component_code: string): Promise<string> {
  const { status, body, text } = await who.api('POST', '/components', { component_code });
  if (status !== 200) throw new Error(text);
  return (body.data as { id: string }).id;
}

export async function publishCode(who: Who, component_code: string): Promise<ApiAnswer> {
  const id = await saveCode(who, component_code);
  return who.api('POST', `/components/${id}/publish`, { scope: 'registry' });
}
