import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, forState } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { Workflow } from './workflow-queries.ts';

type Throttle = Workflow['settings']['throttle'];

/** Events are kept, and no execution begins. */
export function isPaused({ settings }: Pick<Workflow, 'settings'>): boolean {
  return settings.throttle?.limit === 0;
}

/**
 * Pauses a workflow with a throttle of 0, and gives it back the throttle that it had. A version
 * that is saved but not deployed would be deployed with it, so there is no button then.
 */
export function PauseWorkflow({ workflow }: { workflow: Workflow }) {
  const { id, settings } = workflow;
  const queries = useQueryClient();
  const paused = isPaused(workflow);
  const pausing = useMutation({
    mutationFn: async () => {
      const throttle = paused
        ? await throttleBeforePause(id)
        : { limit: 0, interval_seconds: settings.throttle?.interval_seconds ?? 60 };
      const path = { id };
      const body = { settings: { throttle } };
      const headers = forState(workflow);
      const saved = (await api.put('/v1/workflows/{id}', { path, headers, body })).data;
      if (saved.deployment_id === saved.latest_deployment_id) return;
      await api.post('/v1/workflows/{id}/deploy', { path, body: { deployment_id: saved.latest_deployment_id } });
    },
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ['workflow', id] });
      await queries.invalidateQueries({ queryKey: ['deployments', id] });
    },
  });
  if (workflow.deployment_id !== workflow.latest_deployment_id) return null;
  return (
    <>
      <Button
        needs="change"
        busy={pausing.isPending}
        title={paused ? 'Starts what waits' : 'Keeps events, and starts nothing'}
        onClick={() => pausing.mutate()}
      >
        <Icon name={paused ? 'play' : 'pause'} />
        {paused ? 'Resume' : 'Pause'}
      </Button>
      <div className="order-last basis-full empty:hidden">
        <ProblemNote error={pausing.error} />
      </div>
    </>
  );
}

const MAX_VERSIONS_READ = 10;

/**
 * The throttle of the newest version that was not paused; none where there is no such version among
 * the newest.
 */
async function throttleBeforePause(id: string): Promise<Throttle> {
  const path = { id };
  const query = { limit: MAX_VERSIONS_READ };
  const { data } = await api.get('/v1/workflows/{id}/deployments', { path, query });
  for (const { id: deploymentId } of data) {
    // One after the other: the first one is nearly always it.
    const { data: version } = await api.get('/v1/workflows/{id}', { path, query: { deployment_id: deploymentId } });
    if (!isPaused(version)) return version.settings.throttle;
  }
  return null;
}
