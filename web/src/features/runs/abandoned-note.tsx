import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Icon } from '../../ui/icons.tsx';
import { abandonedCountQuery } from './abandoned-runs.ts';

/** Leads to the abandoned runs of the account, or of one source; nothing where there are none. */
export function AbandonedNote({ sourceId }: { sourceId?: string }) {
  const { data: count = 0 } = useQuery(abandonedCountQuery(sourceId === undefined ? {} : { source_id: sourceId }));
  if (count === 0) return null;
  return (
    <p className="flex items-center gap-2 rounded-md bg-bad-soft px-4 py-2 text-sm">
      <Icon name="warning" className="size-4 text-bad" />
      <span>
        {count === 1
          ? '1 run was given up, and is kept.'
          : `${count.toLocaleString()} runs were given up, and are kept.`}{' '}
        <Link to="/runs" search={sourceId === undefined ? {} : { source: sourceId }} className="underline">
          Look at {count === 1 ? 'it' : 'them'}
        </Link>
      </span>
    </p>
  );
}
