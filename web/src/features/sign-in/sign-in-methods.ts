import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';

/** How people may sign in here; undefined until the server has said. */
export function useSignInMethods() {
  const methods = useQuery({ queryKey: ['sign-in-methods'], queryFn: () => api.get('/v1/session/methods') });
  return methods.data?.data;
}
