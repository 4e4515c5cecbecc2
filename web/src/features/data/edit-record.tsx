import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api, ask, type Schemas } from '../../api/client.ts';
import { ApiError } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { Conflict } from '../../ui/conflict.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';

export type StoredRecord = Schemas['DataStoreRecord'];

interface EditRecordProps {
  storeId: string;
  /** Undefined: a new one. */
  record: StoredRecord | undefined;
  onClose: () => void;
}

const textOf = (value: unknown) => JSON.stringify(value, undefined, 2);
/** The text that stands for no record. */
const NONE = '';

/**
 * A record has no revision, and components write to it as well. It is read once more right before
 * it is saved: where it is another by then, the reader sees both.
 */
export function EditRecord({ storeId, record, onClose }: EditRecordProps) {
  const [key, setKey] = useState(record?.key ?? '');
  const [base, setBase] = useState(record === undefined ? NONE : textOf(record.value));
  const [text, setText] = useState(record === undefined ? '{}' : base);
  const [isConflict, setConflict] = useState(false);
  const queries = useQueryClient();
  const params = { path: { id: storeId } };
  const read = async (): Promise<string> => {
    try {
      return textOf(
        (await ask(api.GET('/v1/data_stores/{id}/record', { params: { ...params, query: { key } } }))).data.value,
      );
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return NONE;
      throw error;
    }
  };
  const saving = useMutation({
    mutationFn: async (over: string) => {
      const value: unknown = JSON.parse(text);
      if ((await read()) !== over) return false;
      await ask(api.PUT('/v1/data_stores/{id}/record', { params, body: { key, value } }));
      return true;
    },
    onSuccess: async (isSaved) => {
      setConflict(!isSaved);
      if (!isSaved) return;
      await queries.invalidateQueries({ queryKey: ['records', storeId] });
      onClose();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate(base);
  };
  return (
    <Dialog open onClose={onClose} title={record === undefined ? 'New record' : `Edit ${record.key}`} wide>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {record === undefined && (
          <TextField
            label="Key"
            required
            className="font-mono"
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
        )}
        <CodeView value={text} label="Value" language="json" onChange={setText} />
        <ProblemNote error={saving.error} />
        <Button type="submit" kind="primary" className="self-end" busy={saving.isPending}>
          Save
        </Button>
      </form>
      {isConflict && (
        <Conflict<string>
          mine={text}
          textOf={(theirs) => theirs}
          language="json"
          read={read}
          busy={saving.isPending}
          onClose={() => setConflict(false)}
          onTakeTheirs={(theirs) => {
            setBase(theirs);
            setText(theirs);
            setConflict(false);
          }}
          onKeepMine={(theirs) => saving.mutate(theirs)}
        />
      )}
    </Dialog>
  );
}
