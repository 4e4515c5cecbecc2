import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Field, INPUT_CLASS } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { PropFieldProps } from './prop-form.tsx';
import { fieldOf } from './simple-fields.tsx';

function idOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string') return value.id;
  return '';
}

/** One of the account's data stores, or a new one. */
export function DataStoreField({ definition, value, onChange, errors }: PropFieldProps) {
  const queries = useQueryClient();
  const list = useQuery({
    queryKey: ['data-stores'],
    queryFn: ({ signal }) => api.get('/v1/data_stores', { query: { limit: 100 }, signal }),
  });
  const making = useMutation({
    mutationFn: () => api.post('/v1/data_stores', { body: { name: definition.label ?? definition.name } }),
    onSuccess: async ({ data }) => {
      await queries.invalidateQueries({ queryKey: ['data-stores'] });
      onChange(data.id);
    },
  });
  return (
    <Field {...fieldOf({ definition, errors })}>
      {(ids) => (
        <>
          <div className="flex gap-2">
            <select
              {...ids}
              className={INPUT_CLASS}
              value={idOf(value)}
              onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
            >
              <option value="">Choose a data store…</option>
              {list.data?.data.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
            <Button needs="change" busy={making.isPending} onClick={() => making.mutate()}>
              New
            </Button>
          </div>
          <ProblemNote error={list.error ?? making.error} />
        </>
      )}
    </Field>
  );
}
