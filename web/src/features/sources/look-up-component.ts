import { HeadwaterProblem } from '@headwater/client';
import { api, type Schemas } from '../../api/client.ts';

/**
 * Looks up a component by id or key. The account's own component of a key comes before that of the
 * registry, as when it is deployed by its key.
 */
export async function lookUpComponent(id: string): Promise<Schemas['Component']> {
  const own = await api.get('/v1/components/{id}', { path: { id } }).catch((error: unknown) => {
    if (error instanceof HeadwaterProblem && error.status === 404) return undefined;
    throw error;
  });
  return (own ?? (await api.get('/v1/components/registry/{id}', { path: { id } }))).data as Schemas['Component'];
}
