import { Link } from '@tanstack/react-router';
import { portal } from '../../app/portal.ts';
import { useEmitterNames } from './emitter-names.ts';

/** A source or workflow by its name; the portal of a customer has no page of it. */
export function EmitterLink({ id }: { id: string }) {
  const name = useEmitterNames().get(id);
  // Ids of the account say nothing to its customers.
  if (portal !== undefined) return <span>{name ?? 'no longer there'}</span>;
  return (
    <Link
      to={id.startsWith('p_') ? '/workflows/$id' : '/sources/$id'}
      params={{ id }}
      title={id}
      className="truncate text-accent underline"
    >
      {name ?? id}
    </Link>
  );
}
