import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';

interface Limit {
  name: string;
  value: number;
  /** Other than the default of the instance. */
  isSet: boolean;
}

const COLUMNS: readonly Column<Limit>[] = [
  { header: 'Limit', cell: ({ name }) => <code className="font-mono text-xs">{name}</code> },
  { header: 'Set for this account', cell: ({ isSet }) => (isSet ? 'yes' : ''), className: 'w-44', wide: true },
  { header: 'Value', cell: ({ value }) => value.toLocaleString(), className: 'w-40 text-right tabular-nums' },
];

/** The account's limits: set by the operator, each explained in docs/configuration.md. */
export function OwnLimits() {
  const [text, setText] = useState('');
  const { data, error } = useQuery({
    queryKey: ['own-limits'],
    queryFn: ({ signal }) => api.get('/v1/users/me/limits', { signal }).then((answer) => answer.data),
  });
  const rows = Object.entries(data?.limits ?? {})
    .map(([name, value]) => ({ name, value, isSet: Object.hasOwn(data?.set ?? {}, name) }))
    .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return (
    <>
      <ProblemNote error={error} />
      <Panel
        title="Limits"
        actions={
          <>
            <SearchBox value={text} label="Search limits" onChange={setText} />
            <CopyMenu command={{ path: '/v1/users/me/limits' }} />
          </>
        }
      >
        {data === undefined && error === null && <SkeletonRows />}
        {data !== undefined && <Table label="Limits" columns={COLUMNS} rows={rows} keyOf={({ name }) => name} />}
        {data !== undefined && rows.length === 0 && (
          <p className="p-4 text-sm text-ink-soft">No limit matches “{text}”.</p>
        )}
      </Panel>
    </>
  );
}
