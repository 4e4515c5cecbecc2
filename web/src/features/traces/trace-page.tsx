import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';

/** Asks for an id, and goes to its trace. */
export function TraceSearch() {
  const [id, setId] = useState('');
  const navigate = useNavigate();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void navigate({ to: '/traces/$id', params: { id: id.trim() } });
  };
  return (
    <Page title="Traces">
      <form onSubmit={submit} className="flex max-w-xl flex-col gap-3">
        <TextField
          label="Id"
          value={id}
          onChange={(event) => setId(event.target.value)}
          required
          className="font-mono"
          description="Of a run (inv_…), an execution (exec_…), or an event (its emit id)."
        />
        <Button type="submit" kind="primary" className="self-start">
          Show trace
        </Button>
      </form>
    </Page>
  );
}

/** Everything that followed from one request. */
export function TracePage() {
  const { id } = useParams({ from: '/shell/traces/$id' });
  const trace = useQuery({
    queryKey: ['trace', id],
    queryFn: ({ signal }) =>
      ask(api.GET('/v1/traces/{id}', { params: { path: { id } }, signal })).then(({ data }) => data),
  });
  return (
    <Page title="Trace">
      <ProblemNote error={trace.error} />
      <Panel>
        {trace.isPending && <SkeletonRows />}
        {trace.data !== undefined && <JsonTree value={trace.data} label="Trace" />}
      </Panel>
    </Page>
  );
}
