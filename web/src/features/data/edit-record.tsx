import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api, type Schemas, type Tagged } from '../../api/client.ts';
import { HeadwaterProblem } from '@headwater/client';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { hwLine, textOrJson } from '../../ui/command.ts';
import { Conflict, isConflict } from '../../ui/conflict.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';

export type StoredRecord = Schemas['DataStoreRecord'];

interface EditRecordProps {
  storeId: string;
  /** Undefined: a new one. */
  record: StoredRecord | undefined;
  onClose: () => void;
}

/** A record as it was read: `etag` is absent where there is none. */
interface ReadState {
  text: string;
  etag?: string;
}

const NONE: ReadState = { text: '' };
const stateOf = ({ value, etag }: Tagged<StoredRecord>): ReadState => ({
  text: JSON.stringify(value, undefined, 2),
  ...(etag === undefined ? {} : { etag }),
});

async function readRecord(id: string, key: string): Promise<ReadState> {
  try {
    return stateOf(await api.tagged('get', '/v1/data_stores/{id}/record', { path: { id }, query: { key } }));
  } catch (error) {
    if (error instanceof HeadwaterProblem && error.status === 404) return NONE;
    throw error;
  }
}

/** Components write to records as well: it is saved only where it is as it was read. */
export function EditRecord({ storeId, record, onClose }: EditRecordProps) {
  const read = useQuery({
    queryKey: ['record', storeId, record?.key],
    queryFn: () => (record === undefined ? NONE : readRecord(storeId, record.key)),
    gcTime: 0,
    staleTime: Infinity,
  });
  return (
    <Dialog open onClose={onClose} title={record === undefined ? 'New record' : `Edit ${record.key}`} wide>
      <ProblemNote error={read.error} />
      {read.isPending && <SkeletonRows />}
      {read.data !== undefined && (
        <RecordForm storeId={storeId} knownKey={record?.key} read={read.data} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface RecordFormProps {
  storeId: string;
  knownKey: string | undefined;
  read: ReadState;
  onClose: () => void;
}

function RecordForm({ storeId, knownKey, read, onClose }: RecordFormProps) {
  const [key, setKey] = useState(knownKey ?? '');
  const [base, setBase] = useState(read);
  const [text, setText] = useState(knownKey === undefined ? '{}' : read.text);
  const queries = useQueryClient();
  const saving = useMutation({
    mutationFn: async ({ etag }: ReadState) => {
      const value: unknown = JSON.parse(text);
      const headers = etag === undefined ? { 'if-none-match': '*' } : { 'if-match': etag };
      await api.put('/v1/data_stores/{id}/record', { path: { id: storeId }, headers, body: { key, value } });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['records', storeId] });
      onClose();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate(base);
  };
  return (
    <>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {knownKey === undefined && (
          <TextField
            label="Key"
            required
            className="font-mono"
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
        )}
        <CodeView value={text} label="Value" language="json" onChange={setText} />
        <ProblemNote error={isConflict(saving.error) ? null : saving.error} />
        <div className="flex justify-end gap-2">
          <CopyMenu
            command={{
              method: 'PUT',
              path: `/v1/data_stores/${storeId}/record`,
              body: { key, value: textOrJson(text) },
              hw: hwLine(['data-stores', 'set', storeId, key, text]),
            }}
          />
          <Button type="submit" kind="primary" busy={saving.isPending}>
            Save
          </Button>
        </div>
      </form>
      {isConflict(saving.error) && (
        <Conflict<ReadState>
          mine={text}
          textOf={(theirs) => theirs.text}
          language="json"
          read={() => readRecord(storeId, key)}
          busy={saving.isPending}
          onClose={saving.reset}
          onTakeTheirs={(theirs) => {
            setBase(theirs);
            setText(theirs.text);
            saving.reset();
          }}
          onKeepMine={(theirs) => saving.mutate(theirs)}
        />
      )}
    </>
  );
}
