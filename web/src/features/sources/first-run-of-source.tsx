import { useMutation } from '@tanstack/react-query';
import { Button } from '../../ui/button.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { sendTestRequest } from '../onboarding/test-request.ts';
import { endpointOf, type Source } from './source-queries.ts';

/** The next step of a list that a run of the source fills. */
export function FirstRunOfSource({ source }: { source: Source }) {
  const running = useMutation({ mutationFn: () => sendTestRequest(source) });
  return (
    <div className="flex flex-col items-center gap-2">
      <Button kind="primary" busy={running.isPending} onClick={() => running.mutate()}>
        {endpointOf(source) === undefined ? 'Run it once' : 'Send a test request'}
      </Button>
      <ProblemNote error={running.error} />
    </div>
  );
}
