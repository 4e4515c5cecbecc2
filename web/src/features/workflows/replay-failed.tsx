import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { hwLine, isoOf } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, INPUT_CLASS } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { executionCountQuery } from './workflow-queries.ts';

const HOUR_MS = 3_600_000;
/** Milliseconds before now; 0: all that are kept. */
const SPANS = [
  ['The last hour', HOUR_MS],
  ['The last day', 24 * HOUR_MS],
  ['The last 7 days', 7 * 24 * HOUR_MS],
  ['Everything that is kept', 0],
] as const;

/** Failed executions of a workflow begin anew, many at once. */
export function ReplayFailed({ workflowId }: { workflowId: string }) {
  const [isOpen, setOpen] = useState(false);
  const [begun, setBegun] = useState<number>();
  const { data: failed = 0 } = useQuery(executionCountQuery(workflowId, 'failed'));
  return (
    <span className="flex items-center justify-end gap-2">
      {begun !== undefined && (
        <span role="status" className="text-sm text-ink-soft">
          {begun === 1 ? '1 execution begins anew.' : `${begun} executions begin anew.`}
        </span>
      )}
      {failed > 0 && (
        <Button needs="change" onClick={() => setOpen(true)}>
          <Icon name="retry" />
          Replay failed…
        </Button>
      )}
      {isOpen && (
        <ReplayDialog
          workflowId={workflowId}
          failed={failed}
          onClose={(count) => {
            setOpen(false);
            setBegun(count);
          }}
        />
      )}
    </span>
  );
}

function commandOf(id: string, body: { since_ms?: number; from: string; deployment: string }) {
  const options = {
    since: isoOf(body.since_ms),
    'from-start': body.from === 'start',
    newest: body.deployment === 'newest',
  };
  const path = `/v1/workflows/${id}/executions/retry`;
  return { method: 'POST' as const, path, body, hw: hwLine(['workflows', 'retry', id], options) };
}

interface ReplayDialogProps {
  workflowId: string;
  failed: number;
  onClose: (count?: number) => void;
}

function ReplayDialog({ workflowId: id, failed, onClose }: ReplayDialogProps) {
  const [spanMs, setSpanMs] = useState<number>(HOUR_MS);
  const [from, setFrom] = useState<'failed' | 'start'>('failed');
  const [deployment, setDeployment] = useState<'original' | 'newest'>('newest');
  const queries = useQueryClient();
  const bodyNow = () => ({ ...(spanMs === 0 ? {} : { since_ms: Date.now() - spanMs }), from, deployment });
  const replaying = useMutation({
    mutationFn: () => api.post('/v1/workflows/{id}/executions/retry', { path: { id }, body: bodyNow() }),
    onSuccess: async ({ data }) => {
      onClose(data.count);
      await queries.invalidateQueries({ queryKey: ['executions', id] });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    replaying.mutate();
  };
  return (
    <Dialog
      open
      onClose={() => onClose()}
      title="Replay failed executions"
      description={`${failed.toLocaleString()} of this workflow have failed. Those that ended in the time below begin anew.`}
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Field label="That ended in">
          {(ids) => (
            <select
              {...ids}
              className={INPUT_CLASS}
              value={String(spanMs)}
              onChange={({ target }) => setSpanMs(Number(target.value))}
            >
              {SPANS.map(([label, ms]) => (
                <option key={label} value={String(ms)}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="From" description="What the steps before the failed one came to is taken over.">
          {(ids) => (
            <select
              {...ids}
              className={INPUT_CLASS}
              value={from}
              onChange={({ target }) => setFrom(target.value as typeof from)}
            >
              <option value="failed">the failed step</option>
              <option value="start">the start</option>
            </select>
          )}
        </Field>
        <Field label="Version">
          {(ids) => (
            <select
              {...ids}
              className={INPUT_CLASS}
              value={deployment}
              onChange={({ target }) => setDeployment(target.value as typeof deployment)}
            >
              <option value="newest">the current one</option>
              <option value="original">the one that failed</option>
            </select>
          )}
        </Field>
        <ProblemNote error={replaying.error} />
        <div className="flex justify-end gap-2">
          <CopyMenu command={commandOf(id, bodyNow())} />
          <Button onClick={() => onClose()}>Cancel</Button>
          <Button type="submit" kind="primary" busy={replaying.isPending}>
            Replay them
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
