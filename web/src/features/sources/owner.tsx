import { useMemo } from 'react';
import { useNames } from '../../api/names.ts';
import { useSession } from '../../api/session.ts';
import { FILTER_CLASS } from '../../ui/field.tsx';

/** The user who made a source: a name, or the id of a user without one here. */
export function Owner({ userId }: { userId: string }) {
  const name = useOwners().get(userId);
  return (
    <span title={userId} className={name === undefined ? 'font-mono text-xs' : undefined}>
      {name ?? userId}
    </span>
  );
}

/** Only the sources of one owner. The empty text: those of all. */
export function OwnerFilter({ value, onChange }: { value: string; onChange: (userId: string) => void }) {
  const owners = useOwners();
  return (
    <select
      aria-label="Owner"
      className={`${FILTER_CLASS} w-32 max-sm:order-last max-sm:w-full`}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">All owners</option>
      {value !== '' && !owners.has(value) && <option value={value}>{value === 'me' ? 'Me' : value}</option>}
      {[...owners].map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** Names by the id of the user: the members, and the user of an API key, who is no member. */
function useOwners(): ReadonlyMap<string, string> {
  const members = useNames('members');
  const session = useSession();
  const own = session?.user_id ?? '';
  const name = session?.username ?? '';
  return useMemo(
    () => (own === '' || name === '' || members.has(own) ? members : new Map([[own, name], ...members])),
    [members, own, name],
  );
}
