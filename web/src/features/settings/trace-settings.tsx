import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { missingRight } from '../../api/session.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';

const KEY = ['account-settings'];

/** Whether traces of callers go on in deliveries and fetches of the account. */
export function TraceSettings() {
  const queries = useQueryClient();
  /** Shown from the click on, until the server has answered. */
  const [chosen, setChosen] = useState<boolean>();
  const settings = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => api.get('/v1/users/me/settings', { signal }).then((answer) => answer.data),
  });
  const changing = useMutation({
    mutationFn: (isOn: boolean) => api.put('/v1/users/me/settings', { body: { trace_context: isOn } }),
    onSuccess: ({ data }) => queries.setQueryData(KEY, data),
    onSettled: () => setChosen(undefined),
  });
  const missing = missingRight('change');
  const isOn = chosen ?? settings.data?.trace_context ?? false;
  return (
    <Panel
      title="Traces"
      actions={
        <CopyMenu
          command={{
            method: 'PUT',
            path: '/v1/users/me/settings',
            body: { trace_context: !isOn },
            hw: `hw settings trace_context=${!isOn}`,
          }}
        />
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <ProblemNote error={settings.error ?? changing.error} />
        {settings.isPending && <SkeletonRows rows={1} />}
        {settings.data !== undefined && (
          <label className="flex max-w-2xl items-start gap-3 text-sm">
            <input
              type="checkbox"
              className="mt-1"
              checked={isOn}
              disabled={missing !== undefined}
              title={missing}
              onChange={({ target }) => {
                setChosen(target.checked);
                changing.mutate(target.checked);
              }}
            />
            <span>
              <span className="font-medium">Pass on traces of callers</span>
              <span className="block text-ink-faint">
                The headers traceparent and tracestate of a request to an endpoint go on in its deliveries and in fetch
                of its components.
              </span>
            </span>
          </label>
        )}
      </div>
    </Panel>
  );
}
