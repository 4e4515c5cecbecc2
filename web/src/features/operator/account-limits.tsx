import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api, forState, type Schemas, type Tagged } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { Conflict, isConflict } from '../../ui/conflict.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { accountQuery, limitsQuery, readLimits } from './operator-queries.ts';

type Limits = Schemas['AccountLimits'];

interface Limit {
  name: string;
  value: number;
  default: number;
  isSet: boolean;
}

const COLUMNS: readonly Column<Limit>[] = [
  { header: 'Limit', cell: ({ name }) => <code className="font-mono text-xs">{name}</code> },
  {
    header: 'Value',
    cell: ({ value, isSet }) => <span className={isSet ? 'font-semibold' : ''}>{value.toLocaleString()}</span>,
    className: 'w-32 text-right tabular-nums',
  },
  {
    header: 'Default',
    cell: ({ default: value }) => value.toLocaleString(),
    className: 'w-32 text-right tabular-nums text-ink-soft',
    wide: true,
  },
];

/** Limits of an account; the selected row is edited below the table. */
export function AccountLimits({ accountId, onClose }: { accountId: string; onClose: () => void }) {
  const { data, error } = useQuery(limitsQuery(accountId));
  const { data: accountName } = useQuery({ ...accountQuery(accountId), select: (account) => account.name });
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState<string>();
  const rows = Object.entries(data?.limits ?? {})
    .map(([name, value]) => ({
      name,
      value,
      default: Number((data?.defaults as Record<string, number> | undefined)?.[name]),
      isSet: Object.hasOwn(data?.set ?? {}, name),
    }))
    .filter(({ name }) => name.toLowerCase().includes(query.toLowerCase()));
  const row = rows.find(({ name }) => name === chosen);
  return (
    <Panel
      title={`Limits of ${accountName ?? accountId}`}
      actions={
        <>
          <SearchBox value={query} label="Search limits" onChange={setQuery} />
          <CopyMenu command={{ path: `/v1/accounts/${accountId}/limits`, hw: `hw tenants limits ${accountId}` }} />
          <Button size="small" kind="quiet" onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      <div className="p-4 empty:hidden">
        <ProblemNote error={error} />
      </div>
      {data === undefined && error === null && <SkeletonRows />}
      {row !== undefined && data !== undefined && (
        <SetLimit key={row.name} accountId={accountId} limit={row} limits={data} />
      )}
      {data !== undefined && (
        <div className="max-h-96 overflow-y-auto" tabIndex={0} role="region" aria-label="Limits, scrollable">
          <Table
            label="Limits"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ name }) => name}
            selected={chosen}
            onOpen={({ name }) => setChosen(name)}
          />
        </div>
      )}
    </Panel>
  );
}

const ownValue = ({ set }: Limits, name: string) => (set as Record<string, number | undefined>)[name] ?? null;

interface SetLimitProps {
  accountId: string;
  limit: Limit;
  /** The state that is shown. */
  limits: Tagged<Limits>;
}

function SetLimit({ accountId: id, limit, limits }: SetLimitProps) {
  const { name } = limit;
  const [base, setBase] = useState(limits);
  const [value, setValue] = useState(String(limit.value));
  const queries = useQueryClient();
  const put = (to: number | null, over: Tagged<Limits>) =>
    api.tagged('put', '/v1/accounts/{id}/limits', { path: { id }, headers: forState(over), body: { [name]: to } });
  const setting = useMutation({
    mutationFn: async ({ to, over }: { to: number | null; over?: Tagged<Limits> }) => {
      try {
        return await put(to, over ?? base);
      } catch (error) {
        if (over !== undefined || !isConflict(error)) throw error;
        // Another limit was changed: that is none of this one.
        const now = await readLimits(id);
        if (ownValue(now, name) !== ownValue(base, name)) throw error;
        return put(to, now);
      }
    },
    onSuccess: (now) => {
      queries.setQueryData(limitsQuery(id).queryKey, now);
      setBase(now);
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setting.mutate({ to: Number(value) });
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-3 border-b border-line bg-sunken p-4">
      <TextField
        label={limit.name}
        type="number"
        required
        value={value}
        onChange={({ target }) => setValue(target.value)}
        errors={messagesFor(setting.error, limit.name)}
      />
      <Button type="submit" kind="primary" busy={setting.isPending}>
        Set limit
      </Button>
      <Button disabled={!limit.isSet || setting.isPending} onClick={() => setting.mutate({ to: null })}>
        Back to the default
      </Button>
      <div className="basis-full empty:hidden">
        <ProblemNote error={isConflict(setting.error) ? null : setting.error} />
      </div>
      {isConflict(setting.error) && (
        <Conflict<Tagged<Limits>>
          mine={`${name}: ${setting.variables?.to ?? 'default'}`}
          textOf={(theirs) => `${name}: ${ownValue(theirs, name) ?? 'default'}`}
          language="json"
          read={() => readLimits(id)}
          busy={setting.isPending}
          onClose={setting.reset}
          onTakeTheirs={(theirs) => {
            setBase(theirs);
            setValue(String((theirs.limits as Record<string, number>)[name]));
            setting.reset();
            void queries.invalidateQueries({ queryKey: ['account-limits', id] });
          }}
          onKeepMine={(theirs) => setting.mutate({ to: setting.variables?.to ?? null, over: theirs })}
        />
      )}
    </form>
  );
}
