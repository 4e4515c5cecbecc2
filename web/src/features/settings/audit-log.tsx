import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Paged } from '../../ui/paged.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Entry = Schemas['AuditEntry'];

const auditQuery = pagesOf(['audit'], (query, signal) => api.get('/v1/audit', { query, signal }));

const COLUMNS: readonly Column<Entry>[] = [
  { header: 'When', cell: ({ at }) => <Time atMs={at * 1000} />, className: 'w-28 text-ink-soft' },
  {
    header: 'Who',
    cell: ({ actor_name: name }) => <span className="font-medium">{name}</span>,
    className: 'w-48',
    under: 'Action',
  },
  { header: 'From', cell: ({ address }) => <span className="font-mono text-xs">{address ?? ''}</span>, wide: true },
  {
    header: 'Action',
    cell: ({ action, outcome }) => (
      <code className="font-mono text-xs">{outcome === 'made' ? action : `${action} (outcome unknown)`}</code>
    ),
  },
  { header: 'Thing', cell: ({ thing }) => <code className="font-mono text-xs">{thing}</code>, under: 'Action' },
];

/** The audit log: an entry that is opened shows the fields before and after. */
export function AuditLog() {
  const list = useInfiniteQuery(auditQuery);
  const [opened, setOpened] = useState<Entry>();
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <Paged
        list={list}
        title="Audit log"
        count={rows.length}
        empty={<p className="p-4 text-sm text-ink-soft">Nothing was changed yet.</p>}
      >
        <Table label="Audit log" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} onOpen={setOpened} />
      </Paged>
      <Dialog
        open={opened !== undefined}
        onClose={() => setOpened(undefined)}
        title={opened?.action ?? ''}
        description={opened?.thing}
        wide
      >
        {opened !== undefined && (
          <div className="grid gap-4 md:grid-cols-2">
            <section aria-label="Before">
              <h3 className="mb-1 text-sm font-semibold">Before</h3>
              <JsonTree value={opened.before} label="Before" />
            </section>
            <section aria-label="After">
              <h3 className="mb-1 text-sm font-semibold">After</h3>
              <JsonTree value={opened.after} label="After" />
            </section>
          </div>
        )}
      </Dialog>
    </>
  );
}
