import { useNavigate, useSearch } from '@tanstack/react-router';
import { messagesFor } from '../../../api/problem.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyMenu } from '../../../ui/copy.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Page } from '../../../ui/page.tsx';
import { BuilderView } from './builder-view.tsx';
import { stepInput, triggerInput } from './draft.ts';
import { useBuilder } from './use-builder.ts';

/** A workflow that is not there yet: it is built and tried out before anything is saved. */
export function NewWorkflow() {
  const search = useSearch({ from: '/shell/workflows/new' });
  const navigate = useNavigate({ from: '/workflows/new' });
  const builder = useBuilder(undefined, ({ id }) => {
    void navigate({ to: '/workflows/$id', params: { id }, search: { tab: 'build' } });
  });
  const { draft, set, deploying } = builder;
  const body = { name: draft.name, triggers: draft.triggers.map(triggerInput), steps: draft.steps.map(stepInput) };
  return (
    <Page
      title="New workflow"
      actions={
        <>
          {builder.isChanged && <Button onClick={builder.discard}>Discard</Button>}
          <CopyMenu
            command={{ method: 'POST', path: '/v1/workflows', body, hw: 'hw workflows create workflow.json' }}
          />
          <Button kind="primary" busy={deploying.isPending} onClick={() => deploying.mutate()}>
            Deploy
          </Button>
        </>
      }
    >
      <div className="max-w-sm">
        <TextField
          label="Name"
          autoFocus
          value={draft.name}
          onChange={({ target }) => set({ ...draft, name: target.value })}
          errors={messagesFor(deploying.error, 'name')}
        />
      </div>
      <BuilderView
        builder={builder}
        search={search}
        onSearch={(next) => void navigate({ search: next, replace: true })}
      />
    </Page>
  );
}
