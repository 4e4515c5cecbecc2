import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type SubmitEvent, useDeferredValue, useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { messagesFor } from '../../api/problem.ts';
import { Below } from '../../ui/beside.tsx';
import { Button } from '../../ui/button.tsx';
import { hwLine } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { TextField } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { EditRecord, type StoredRecord } from './edit-record.tsx';

type DataStore = Schemas['DataStore'];

const storesQuery = pagesOf(['data-stores', 'list'], (query, signal) => api.get('/v1/data_stores', { query, signal }));

const COLUMNS: readonly Column<DataStore>[] = [
  { header: 'Name', cell: ({ name }) => <span className="font-medium">{name}</span> },
  { header: 'Records', cell: ({ record_count: count }) => count, className: 'w-24 tabular-nums' },
  {
    header: 'Size',
    cell: ({ bytes }) => `${(bytes / 1024).toFixed(1)} KB`,
    className: 'w-28 tabular-nums',
    wide: true,
  },
  { header: 'Changed', cell: ({ updated_at: at }) => <Time atMs={at * 1000} />, className: 'w-28 text-ink-soft' },
];

/** Data stores of the account, and the records of the one that is open. */
export function DataPage() {
  const { store } = useSearch({ from: '/shell/data' });
  const navigate = useNavigate({ from: '/data' });
  const [isMaking, setMaking] = useState(false);
  const list = useInfiniteQuery(storesQuery);
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const chosen = rows.find(({ id }) => id === store);
  const newStore = (
    <Button kind="primary" onClick={() => setMaking(true)}>
      <Icon name="plus" />
      New data store
    </Button>
  );
  return (
    <Page
      title="Data"
      actions={
        <>
          <CopyMenu command={{ path: '/v1/data_stores', hw: 'hw data-stores list' }} />
          {newStore}
        </>
      }
    >
      <Paged
        list={list}
        title="Data stores"
        count={rows.length}
        empty={
          <Empty icon="data" title="No data stores" action={newStore} command="hw data-stores create customers">
            A data store keeps records that several components share.
          </Empty>
        }
      >
        <Table
          label="Data stores"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          selected={store}
          onOpen={({ id }) => void navigate({ search: { store: id } })}
        />
      </Paged>
      {store !== undefined && chosen === undefined && list.isSuccess && !list.hasNextPage && (
        <p role="alert" className="rounded-md bg-warn-soft px-3 py-2 text-sm">
          No data store <code className="font-mono text-xs">{store}</code> is in this account. Choose one above.
        </p>
      )}
      <Below
        isOpen={chosen !== undefined}
        title={`Records of ${chosen?.name ?? ''}`}
        onClose={() => void navigate({ search: {} })}
      >
        {chosen !== undefined && <Records key={chosen.id} store={chosen} />}
      </Below>
      {isMaking && <NewStore onClose={() => setMaking(false)} />}
    </Page>
  );
}

function NewStore({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const queries = useQueryClient();
  const making = useMutation({
    mutationFn: () => api.post('/v1/data_stores', { body: { name } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['data-stores'] });
      onClose();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    making.mutate();
  };
  return (
    <Dialog open onClose={onClose} title="New data store">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="Name"
          required
          autoFocus
          value={name}
          onChange={({ target }) => setName(target.value)}
          errors={messagesFor(making.error, 'name')}
        />
        <ProblemNote error={making.error} />
        <div className="flex justify-end gap-2">
          <CopyMenu
            command={{
              method: 'POST',
              path: '/v1/data_stores',
              body: { name },
              hw: hwLine(['data-stores', 'create', name]),
            }}
          />
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={making.isPending}>
            Create data store
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Records({ store }: { store: DataStore }) {
  const { id, name } = store;
  const [text, setText] = useState('');
  const [edited, setEdited] = useState<StoredRecord | 'new'>();
  const [deleted, setDeleted] = useState<string>();
  const prefix = useDeferredValue(text);
  const queries = useQueryClient();
  const list = useInfiniteQuery(
    pagesOf(['records', id, prefix], (query, signal) =>
      api.get('/v1/data_stores/{id}/records', {
        path: { id },
        query: { ...query, ...(prefix === '' ? {} : { prefix }) },
        signal,
      }),
    ),
  );
  const deleting = useMutation({
    mutationFn: (key: string) => api.delete('/v1/data_stores/{id}/record', { path: { id }, query: { key } }),
    onSuccess: () => {
      setDeleted(undefined);
      return queries.invalidateQueries({ queryKey: ['records', id] });
    },
  });
  const columns: readonly Column<StoredRecord>[] = [
    { header: 'Key', cell: ({ key }) => <code className="font-mono text-xs">{key}</code>, className: 'w-1/3' },
    { header: 'Value', cell: ({ value }) => <code className="font-mono text-xs">{JSON.stringify(value)}</code> },
    {
      header: 'Changed',
      cell: ({ updated_at: at }) => <Time atMs={at * 1000} />,
      className: 'w-28 text-ink-soft',
      wide: true,
    },
    {
      header: 'Delete',
      cell: ({ key }) => (
        <Button
          kind="quiet"
          size="small"
          needs="change"
          aria-label={`Delete ${key}`}
          onClick={(event) => {
            event.stopPropagation();
            setDeleted(key);
          }}
        >
          <Icon name="cross" />
        </Button>
      ),
      className: 'w-20',
    },
  ];
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <Paged
        list={list}
        title={`Records of ${name}`}
        actions={
          <>
            <SearchBox value={text} label="Keys that begin with" onChange={setText} />
            <Button size="small" needs="change" onClick={() => setEdited('new')}>
              New record
            </Button>
            <DeleteStore store={store} />
            <CopyMenu
              command={{ path: `/v1/data_stores/${id}/records?limit=50`, hw: `hw data-stores records ${id}` }}
              actions={{
                'Delete store': {
                  method: 'DELETE',
                  path: `/v1/data_stores/${id}`,
                  hw: `hw data-stores delete ${id}`,
                },
              }}
            />
          </>
        }
        count={rows.length}
        empty={<NoRecords storeId={id} prefix={prefix} onAdd={() => setEdited('new')} onClear={() => setText('')} />}
      >
        <Table label="Records" columns={columns} rows={rows} keyOf={({ key }) => key} onOpen={setEdited} />
      </Paged>
      {edited !== undefined && (
        <EditRecord storeId={id} record={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
      <Confirm
        open={deleted !== undefined}
        onClose={() => setDeleted(undefined)}
        title={`Delete record ${deleted ?? ''}?`}
        action="Delete record"
        busy={deleting.isPending}
        onConfirm={() => deleted !== undefined && deleting.mutate(deleted)}
      >
        Components that read it find nothing from then on.
        <ProblemNote error={deleting.error} />
      </Confirm>
    </>
  );
}

interface NoRecordsProps {
  storeId: string;
  prefix: string;
  onAdd: () => void;
  onClear: () => void;
}

function NoRecords({ storeId, prefix, onAdd, onClear }: NoRecordsProps) {
  if (prefix !== '') {
    return (
      <Empty
        icon="search"
        title={`No key begins with “${prefix}”`}
        action={<Button onClick={onClear}>Show all records</Button>}
      >
        Capital letters count.
      </Empty>
    );
  }
  return (
    <Empty
      icon="data"
      title="No records"
      command={`hw data-stores set ${storeId} customer:42 '{"name":"Ada"}'`}
      action={
        <Button kind="primary" onClick={onAdd}>
          Add the first record
        </Button>
      }
    >
      Steps and sources write records by their keys, and so can you.
    </Empty>
  );
}

function DeleteStore({ store: { id, name, record_count: count } }: { store: DataStore }) {
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate({ from: '/data' });
  const deleting = useMutation({
    mutationFn: () => api.delete('/v1/data_stores/{id}', { path: { id } }),
    onSuccess: async () => {
      await navigate({ search: {} });
      await queries.invalidateQueries({ queryKey: ['data-stores'] });
    },
  });
  return (
    <>
      <Button size="small" kind="danger" onClick={() => setAsking(true)}>
        Delete store
      </Button>
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete data store ${name}?`}
        action="Delete data store"
        busy={deleting.isPending}
        onConfirm={() => deleting.mutate()}
      >
        Its records go with it{count > 0 && `, ${count.toLocaleString()} in all`}. Components that use it fail from then
        on.
        <ProblemNote error={deleting.error} />
      </Confirm>
    </>
  );
}
