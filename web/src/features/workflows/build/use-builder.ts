import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, forState } from '../../../api/client.ts';
import { currentSession } from '../../../api/session.ts';
import type { Workflow } from '../workflow-queries.ts';
import {
  type Draft,
  draftOf,
  type DraftStep,
  EMPTY_DRAFT,
  withoutUndefined,
  renameStep,
  stepInput,
  triggerInput,
} from './draft.ts';
import { isConflict } from '../../../ui/conflict.tsx';
import { withoutProblems } from './problems.ts';
import { type Sample, type TestedStep, visibleExports } from './sample.ts';

interface Kept {
  draft: Draft;
  /** The version that it was made from. */
  deploymentId: string | undefined;
  /**
   * The state of the workflow that it was begun on; undefined: the user was told of the one that
   * there is now.
   */
  etag: string | undefined;
}

/** Changes that are not deployed outlast a look at another page, in this tab. */
const kept = new Map<string, Kept>();

export interface TestTask {
  namespace: string;
  mode: 'step' | 'up_to';
  sample: Sample;
}

const keyOf = (workflow: Workflow | undefined) => `${currentSession()?.id} ${workflow?.id ?? 'new'}`;

/** Adds a step to the workflow that is not there yet, and returns its name. */
export function addToNewWorkflow(makeStep: (taken: readonly string[]) => DraftStep): string {
  const before = kept.get(keyOf(undefined)) ?? begin(undefined);
  const { draft } = before;
  const step = makeStep(draft.steps.map(({ namespace }) => namespace));
  kept.set(keyOf(undefined), { ...before, draft: { ...draft, steps: [...draft.steps, step] } });
  return step.namespace;
}

/** The draft of a workflow, kept while the tab is open. */
function useDraft(workflow: Workflow | undefined) {
  const key = keyOf(workflow);
  const [{ draft, deploymentId, etag }, setKept] = useState<Kept>(() => kept.get(key) ?? begin(workflow));
  const deployed = workflow === undefined ? EMPTY_DRAFT : draftOf(workflow);
  const isChanged = JSON.stringify(draft) !== JSON.stringify(deployed);
  /** Another version was deployed since the draft was begun. */
  const isStale = workflow !== undefined && deploymentId !== workflow.deployment_id;
  const isUntouched = !kept.has(key);
  useEffect(() => {
    if (isStale && isUntouched) setKept(begin(workflow));
  }, [isStale, isUntouched, workflow]);
  useEffect(() => {
    if (!isChanged) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isChanged]);
  return {
    draft,
    isChanged,
    isStale,
    /**
     * The version that a deployment is made for: the page says so where another version was
     * deployed.
     */
    etag: isStale || isUntouched || etag === undefined ? workflow?.etag : etag,
    /** The user has been told that another user changed the workflow. */
    noteConflict() {
      const now = { draft, deploymentId, etag: undefined };
      kept.set(key, now);
      setKept(now);
    },
    set(next: Draft) {
      const now = { draft: next, deploymentId, etag: isUntouched ? workflow?.etag : etag };
      kept.set(key, now);
      setKept(now);
    },
    reset(to: Workflow | undefined) {
      kept.delete(key);
      setKept(begin(to));
    },
  };
}

/** A workflow under change: its draft, tests of its steps, and its deployment. */
export function useBuilder(workflow: Workflow | undefined, onDeployed: (workflow: Workflow) => void, newName = '') {
  const { draft, isChanged, isStale, etag, set, reset, noteConflict } = useDraft(workflow);
  /** Refusal of the last deployment or test, for the parts that have not changed since. */
  const [refusal, setRefusal] = useState<unknown>(null);
  const [results, setResults] = useState<Readonly<Record<string, TestedStep>>>({});
  const queries = useQueryClient();
  const deploying = useMutation({
    mutationFn: () => deploy(workflow?.id, { name: newName, ...draft }, etag),
    onMutate: () => setRefusal(null),
    onError: async (error) => {
      setRefusal(error);
      if (!isConflict(error)) return;
      noteConflict();
      await queries.invalidateQueries({ queryKey: ['workflow', workflow?.id] });
    },
    onSuccess: async (made) => {
      reset(made);
      queries.setQueryData(['workflow', made.id], made);
      await queries.invalidateQueries({ queryKey: ['workflow', made.id] });
      await queries.invalidateQueries({ queryKey: ['workflows'] });
      await queries.invalidateQueries({ queryKey: ['deployments', made.id] });
      onDeployed(made);
    },
  });
  const testing = useMutation({
    mutationFn: (task: TestTask) => runTest(workflow?.id, draft, results, task),
    onMutate: () => setRefusal(null),
    onError: setRefusal,
    onSuccess: ({ steps }) =>
      setResults((before) => ({ ...before, ...Object.fromEntries(steps.map((step) => [step.namespace, step])) })),
  });

  return {
    draft,
    results,
    refusal,
    isChanged,
    isStale,
    deploying,
    testing,
    set,
    discard: () => reset(workflow),
    changeStep(at: number, step: DraftStep) {
      setRefusal(withoutProblems(refusal, at, changedNames(draft.steps[at], step)));
      set({ ...draft, steps: draft.steps.with(at, step) });
    },
    setSteps(steps: readonly DraftStep[]) {
      // Their places, which problems are told by, are others.
      setRefusal(null);
      set({ ...draft, steps });
    },
    rename(from: string, to: string) {
      set(renameStep(draft, from, to));
      setResults(({ [from]: result, ...others }) =>
        result === undefined ? others : { ...others, [to]: { ...result, namespace: to } },
      );
    },
  };
}

/** Names of the props that two states of a step differ in; undefined: it differs in more. */
function changedNames(before: DraftStep | undefined, after: DraftStep): string[] | undefined {
  if (before === undefined || before.code !== after.code || before.definitions !== after.definitions) return undefined;
  const names = new Set([...Object.keys(before.values), ...Object.keys(after.values)]);
  return [...names].filter((name) => before.values[name] !== after.values[name]);
}

export type Builder = ReturnType<typeof useBuilder>;

function begin(workflow: Workflow | undefined): Kept {
  return workflow === undefined
    ? { draft: EMPTY_DRAFT, deploymentId: undefined, etag: undefined }
    : { draft: draftOf(workflow), deploymentId: workflow.deployment_id, etag: workflow.etag };
}

/** Saves a version and makes it the current one, also where the settings would only save it. */
async function deploy(
  id: string | undefined,
  { name, triggers, steps }: Draft & { name: string },
  etag: string | undefined,
): Promise<Workflow> {
  const body = { name, triggers: triggers.map(triggerInput), steps: steps.map(stepInput) };
  if (id === undefined) return (await api.post('/v1/workflows', { body })).data;
  const path = { id };
  const headers = forState(etag === undefined ? {} : { etag });
  const saved = (await api.put('/v1/workflows/{id}', { path, headers, body })).data;
  if (saved.deployment_id === saved.latest_deployment_id) return saved;
  const version = { deployment_id: saved.latest_deployment_id };
  return (await api.post('/v1/workflows/{id}/deploy', { path, body: version })).data;
}

/** A single step finds what the last tests of the steps before it came to. */
async function runTest(
  id: string | undefined,
  { steps }: Draft,
  results: Readonly<Record<string, TestedStep>>,
  { namespace, mode, sample }: TestTask,
) {
  const exports = Object.fromEntries(
    Object.entries(results).map(([name, step]) => [name, visibleExports(step) as Record<string, unknown>]),
  );
  const body = {
    steps: steps.map(stepInput),
    ...(mode === 'step' ? { step: namespace, exports } : { up_to: namespace }),
    ...withoutUndefined({ event_id: sample.eventId, event: sample.eventId === undefined ? sample.event : undefined }),
  };
  const request =
    id === undefined
      ? api.post('/v1/workflow_tests', { body })
      : api.post('/v1/workflows/{id}/test', { path: { id }, body });
  return (await request).data;
}
