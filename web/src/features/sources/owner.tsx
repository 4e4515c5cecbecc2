import { useUserName } from '../settings/member-queries.ts';

/** The user who made a source: a name, or the id of a user without one here. */
export function Owner({ userId }: { userId: string }) {
  const name = useUserName(userId);
  return (
    <span title={userId} className={name === undefined ? 'font-mono text-xs' : undefined}>
      {name ?? userId}
    </span>
  );
}
