import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Empty, ToForm } from '../../ui/empty.tsx';
import { TextField } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Panel } from '../../ui/page.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { RowForm } from '../../ui/row-form.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type Variable = Schemas['EnvironmentVariable'];

const variablesQuery = pagesOf(['environment'], (query, signal) =>
  api.get('/v1/environment_variables', { query, signal }),
);

/** Values that steps of workflows may read. They are sealed: no answer holds one. */
export function Environment() {
  const list = useInfiniteQuery(variablesQuery);
  const [deleted, setDeleted] = useState<string>();
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: (id: string) => api.delete('/v1/environment_variables/{id}', { path: { id } }),
    onSuccess: () => {
      setDeleted(undefined);
      return queries.invalidateQueries({ queryKey: ['environment'] });
    },
  });
  const columns: readonly Column<Variable>[] = [
    { header: 'Name', cell: ({ name }) => <code className="font-mono text-xs">{name}</code> },
    { header: 'Description', cell: ({ description }) => description ?? '', wide: true },
    { header: 'Changed', cell: ({ updated_at: at }) => <Time atMs={at * 1000} />, className: 'w-28 text-ink-soft' },
    {
      header: 'Delete',
      cell: ({ name }) => (
        <Button kind="quiet" size="small" needs="change" aria-label={`Delete ${name}`} onClick={() => setDeleted(name)}>
          <Icon name="cross" />
        </Button>
      ),
      className: 'w-20',
    },
  ];
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className="flex flex-col gap-4">
      <SetVariable />
      <Paged
        list={list}
        title="Variables"
        count={rows.length}
        empty={
          <Empty
            icon="settings"
            title="No variables"
            command="hw env set NAME value"
            action={<ToForm form="set-variable">Set the first one</ToForm>}
          >
            Steps read them as {'{{env.NAME}}'}.
          </Empty>
        }
      >
        <Table label="Environment variables" columns={columns} rows={rows} keyOf={({ name }) => name} />
      </Paged>
      <Confirm
        open={deleted !== undefined}
        onClose={() => setDeleted(undefined)}
        title={`Delete variable ${deleted ?? ''}?`}
        action="Delete variable"
        busy={deleting.isPending}
        onConfirm={() => deleted !== undefined && deleting.mutate(deleted)}
      >
        The server never shows its value again. A variable that a deployed workflow reads is not deleted.
        <ProblemNote error={deleting.error} />
      </Confirm>
    </div>
  );
}

function SetVariable() {
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const queries = useQueryClient();
  const setting = useMutation({
    mutationFn: () => api.put('/v1/environment_variables/{id}', { path: { id: name }, body: { value } }),
    onSuccess: () => {
      setName('');
      setValue('');
      return queries.invalidateQueries({ queryKey: ['environment'] });
    },
  });
  return (
    <Panel title="Set a variable">
      <RowForm id="set-variable" onSubmit={() => setting.mutate()} error={setting.error}>
        <TextField
          label="Variable name"
          required
          className="font-mono"
          value={name}
          onChange={({ target }) => setName(target.value)}
          placeholder="API_TOKEN"
          errors={messagesFor(setting.error, 'name')}
        />
        <TextField
          label="Value"
          required
          autoComplete="off"
          className="font-mono [-webkit-text-security:disc]"
          value={value}
          onChange={({ target }) => setValue(target.value)}
          errors={messagesFor(setting.error, 'value')}
        />
        <Button type="submit" kind="primary" busy={setting.isPending} disabled={name === ''}>
          Set variable
        </Button>
      </RowForm>
    </Panel>
  );
}
