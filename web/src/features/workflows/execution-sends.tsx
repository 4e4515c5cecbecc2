import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, type Schemas } from '../../api/client.ts';
import { pagesOf } from '../../api/pages.ts';
import { Button } from '../../ui/button.tsx';
import { CopyMenu } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icons.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Paged } from '../../ui/paged.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { formatDuration, Time } from '../../ui/time.tsx';
import { type Execution, isOver } from './workflow-queries.ts';

type Send = Schemas['Send'];

const REFRESH_MS = 1_000;

const sendsQuery = (id: string) =>
  pagesOf(['sends', id], (query, signal) => api.get('/v1/executions/{id}/sends', { path: { id }, query, signal }));

/** Sends of an execution with their attempts; hidden if there are none. */
export function ExecutionSends({ execution }: { execution: Execution }) {
  const { id } = execution;
  const list = useInfiniteQuery({
    ...sendsQuery(id),
    // Sends begin when the execution has ended.
    enabled: isOver(execution),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(({ status }) => status === 'pending')) === true
        ? REFRESH_MS
        : false,
  });
  const sends = list.data?.pages.flatMap(({ data }) => data) ?? [];
  if (sends.length === 0) return <ProblemNote error={list.error} />;
  return (
    <Paged
      list={list}
      title="Sends"
      actions={<CopyMenu command={{ path: `/v1/executions/${id}/sends`, hw: `hw trace ${id}` }} />}
      count={sends.length}
      empty={null}
    >
      <ol aria-label="Sends" className="divide-y divide-line">
        {sends.map((send) => (
          <li key={send.id}>
            <SendRow send={send} />
          </li>
        ))}
      </ol>
    </Paged>
  );
}

/** Target of a send, as far as its payload names one. */
function targetOf({ kind, payload, object_key: key }: Send): string {
  const fields = typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>) : {};
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : undefined);
  if (kind === 'http') return [text('method'), text('url')].filter(Boolean).join(' ');
  if (kind === 'email') return text('subject') ?? '';
  return key ?? [text('bucket'), text('prefix')].filter(Boolean).join('/');
}

function SendRow({ send }: { send: Send }) {
  const { id, kind, status, attempts, payload, next_attempt_at: next, execution_id: executionId } = send;
  const queries = useQueryClient();
  const retrying = useMutation({
    mutationFn: () => api.post('/v1/sends/{id}/retry', { path: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['sends', executionId] }),
  });
  return (
    <details open={status === 'failed'}>
      <summary className="flex cursor-pointer flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 text-sm hover:bg-sunken">
        <Status of={status} />
        <span className="font-medium">{kind}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-ink-soft">{targetOf(send)}</span>
        {next !== null && (
          <span className="text-xs text-ink-faint">
            next attempt <Time atMs={next * 1000} />
          </span>
        )}
      </summary>
      <div className="flex flex-col gap-3 px-4 pb-4">
        {status === 'failed' && (
          <Button
            size="small"
            needs="change"
            className="self-start"
            busy={retrying.isPending}
            onClick={() => retrying.mutate()}
          >
            <Icon name="retry" className="size-3.5" />
            Send again
          </Button>
        )}
        <ProblemNote error={retrying.error} />
        {attempts.length > 0 && (
          <ol aria-label="Attempts" className="flex flex-col gap-2">
            {attempts.map((attempt) => (
              <AttemptOfSend key={attempt.at} attempt={attempt} />
            ))}
          </ol>
        )}
        {payload !== undefined && <JsonTree value={payload} label={`What ${id} hands over`} maxHeight={240} />}
      </div>
    </details>
  );
}

function AttemptOfSend({ attempt }: { attempt: Send['attempts'][number] }) {
  const { at, status_code: code, error, duration_ms: ms, response } = attempt;
  return (
    <li className="rounded-md border border-line p-3 text-sm">
      <div className="flex items-center gap-3">
        <Status of={error === null ? 'delivered' : 'failed'} label={code === null ? 'no status' : `HTTP ${code}`} />
        <Time atMs={Date.parse(at)} />
        <span className="ml-auto text-ink-faint tabular-nums">{formatDuration(ms)}</span>
      </div>
      {error !== null && <p className="mt-2 break-words text-bad">{error}</p>}
      {response !== null && response !== '' && (
        <pre
          tabIndex={0}
          aria-label="What was answered"
          className="mt-2 max-h-48 overflow-auto rounded bg-sunken p-2 font-mono text-xs whitespace-pre-wrap"
        >
          {response}
        </pre>
      )}
    </li>
  );
}
