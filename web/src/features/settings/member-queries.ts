import { useInfiniteQuery } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { useSession } from '../../api/session.ts';

export const membersQuery = pagesOf(['members'], (query, signal) =>
  ask(api.GET('/v1/members', { params: { query }, signal })),
);

/**
 * The user who made a resource, as people call them: a member by name or e-mail, else the account's
 * own user by its name. Undefined: neither, as of a member who has left.
 */
export function useUserName(userId: string): string | undefined {
  const session = useSession();
  const { data } = useInfiniteQuery({ ...membersQuery, staleTime: 60_000 });
  const member = data?.pages.flatMap((page) => page.data).find(({ id }) => id === userId);
  if (member !== undefined) return member.name || member.email;
  return session?.user_id === userId ? (session.username ?? undefined) : undefined;
}
