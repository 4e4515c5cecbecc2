import { useNames } from '../../api/names.ts';
import { useSession } from '../../api/session.ts';

/** The user who made a source: a name, or the id of a user without one here. */
export function Owner({ userId }: { userId: string }) {
  const members = useNames('members');
  const session = useSession();
  // The account's own user is no member.
  const name = members.get(userId) ?? (session?.user_id === userId ? session.username : null);
  return (
    <span title={userId} className={name === null ? 'font-mono text-xs' : undefined}>
      {name ?? userId}
    </span>
  );
}
