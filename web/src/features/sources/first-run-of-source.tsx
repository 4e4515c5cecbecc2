import { useMutation, useQuery } from '@tanstack/react-query';
import { Button } from '../../ui/button.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { sendTestRequest } from '../onboarding/test-request.ts';
import { componentQuery, endpointOf, isIngest, type Source } from './source-queries.ts';

/** The next step of a list that a run of the source fills. */
export function FirstRunOfSource({ source }: { source: Source }) {
  const component = useQuery(componentQuery(source.component_id));
  const running = useMutation({ mutationFn: () => sendTestRequest(source) });
  // No run fills the list: its tab Events has the next step.
  if (component.data === undefined || isIngest(component.data)) return null;
  return (
    <div className="flex flex-col items-center gap-2">
      <Button kind="primary" busy={running.isPending} onClick={() => running.mutate()}>
        {endpointOf(source) === undefined ? 'Run it once' : 'Send a test request'}
      </Button>
      <ProblemNote error={running.error} />
    </div>
  );
}
